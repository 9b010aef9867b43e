import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./ru/app.ts";
import { chunks } from "./ru/chunks.ts";
import { collections } from "./ru/collections.ts";
import { diff } from "./ru/diff.ts";
import { settings } from "./ru/settings.ts";
import { tryPage } from "./ru/try.ts";

export const ru = (f: Format): Messages => ({ app: app(f), chunks: chunks(f), collections: collections(f), diff: diff(f), settings: settings(f), try: tryPage(f) });
