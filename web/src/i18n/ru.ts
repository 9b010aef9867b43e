import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./ru/app.ts";
import { chunks } from "./ru/chunks.ts";
import { collections } from "./ru/collections.ts";
import { search } from "./ru/search.ts";

export const ru = (f: Format): Messages => ({ app: app(f), chunks: chunks(f), collections: collections(f), search: search(f) });
