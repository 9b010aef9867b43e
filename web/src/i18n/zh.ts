import type { Messages } from "./en.ts";
import type { Format } from "./format.ts";
import { app } from "./zh/app.ts";
import { chunks } from "./zh/chunks.ts";
import { collection } from "./zh/collection.ts";
import { collections } from "./zh/collections.ts";
import { connect } from "./zh/connect.ts";
import { diff } from "./zh/diff.ts";
import { document } from "./zh/document.ts";
import { jobs } from "./zh/jobs.ts";
import { log } from "./zh/log.ts";
import { search } from "./zh/search.ts";
import { settings } from "./zh/settings.ts";
import { tryPage } from "./zh/try.ts";
import { upload } from "./zh/upload.ts";

export const zh = (f: Format): Messages => ({
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
