import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./zh/app.ts";
import { chunks } from "./zh/chunks.ts";
import { collections } from "./zh/collections.ts";
import { diff } from "./zh/diff.ts";
import { settings } from "./zh/settings.ts";
import { tryPage } from "./zh/try.ts";

export const zh = (f: Format): Messages => ({ app: app(f), chunks: chunks(f), collections: collections(f), diff: diff(f), settings: settings(f), try: tryPage(f) });
