// English: the source of types. Each part of the page has its messages in a file of its own, in each language.

import type { Format } from "./format.ts";
import { app } from "./en/app.ts";
import { chunks } from "./en/chunks.ts";
import { collections } from "./en/collections.ts";
import { search } from "./en/search.ts";

export const en = (f: Format) => ({ app: app(f), chunks: chunks(f), collections: collections(f), search: search(f) });

export type Messages = ReturnType<typeof en>;
