// English: the source of types. Each part of the page has its messages in a file of its own, in each language.

import type { Format } from "./format.ts";
import { app } from "./en/app.ts";
import { chunks } from "./en/chunks.ts";
import { collection } from "./en/collection.ts";
import { collections } from "./en/collections.ts";
import { connect } from "./en/connect.ts";
import { diff } from "./en/diff.ts";
import { document } from "./en/document.ts";
import { jobs } from "./en/jobs.ts";
import { log } from "./en/log.ts";
import { search } from "./en/search.ts";
import { settings } from "./en/settings.ts";
import { tryPage } from "./en/try.ts";
import { upload } from "./en/upload.ts";

export const en = (f: Format) => ({
  app: app(f),
  chunks: chunks(f),
  collections: collections(f),
  collection: collection(f),
  jobs: jobs(f),
  log: log(f),
  connect: connect(),
  upload: upload(f),
  document: document(f),
  diff: diff(f),
  settings: settings(f),
  try: tryPage(f),
  search: search(f),
});

export type Messages = ReturnType<typeof en>;
