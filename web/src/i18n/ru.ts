import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./ru/app.ts";
import { chunks } from "./ru/chunks.ts";
import { collection } from "./ru/collection.ts";
import { collections } from "./ru/collections.ts";
import { connect } from "./ru/connect.ts";
import { diff } from "./ru/diff.ts";
import { document } from "./ru/document.ts";
import { jobs } from "./ru/jobs.ts";
import { log } from "./ru/log.ts";
import { search } from "./ru/search.ts";
import { settings } from "./ru/settings.ts";
import { tryPage } from "./ru/try.ts";
import { upload } from "./ru/upload.ts";

export const ru = (f: Format): Messages => ({
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
