import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./zh/app.ts";
import { chunks } from "./zh/chunks.ts";
import { collections } from "./zh/collections.ts";
import { search } from "./zh/search.ts";

export const zh = (f: Format): Messages => ({ app: app(f), chunks: chunks(f), collections: collections(f), search: search(f) });
