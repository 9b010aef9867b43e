import { mount } from "svelte";
import "../app/tokens.css";
import "../app/base.css";
import { applyTheme } from "../app/theme.svelte.ts";
import { preferred, speak } from "../i18n/index.svelte.ts";
import { readDocuments, readSettings } from "./data.ts";
import File from "./File.svelte";

const settings = readSettings();
const documents = readDocuments();
applyTheme();
void speak(preferred(), false).then(() => mount(File, { target: document.body, props: { settings, documents } }));
