import { mount } from "svelte";
import { preferred, speak } from "../i18n/index.svelte.ts";
import App from "./App.svelte";
import "./tokens.css";
import "./base.css";
import { applyTheme } from "./theme.svelte.ts";
import { start } from "./router.svelte.ts";

// The address of the page changes; its icon stays where it was found.
for (const icon of document.querySelectorAll<HTMLLinkElement>("link[rel=icon]")) icon.href = String(new URL(icon.href));
applyTheme();
// A page in the wrong language for a moment would be read aloud in it.
await speak(preferred(), false).catch(() => {});
start();
mount(App, { target: document.getElementById("app")! });
