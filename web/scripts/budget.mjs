// What the page weighs, compressed: what comes before it can be used, and all of it. Fails where it is over.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = join(import.meta.dirname, "../../crates/chunkwright-engine/dist");
const BUDGET = {
  "first load": 80,
  "whole page": 400,
  "drawing of PDFs": 520,
  "encodings of PDFs": 400,
  "standalone file": 130,
};

const weigh = (path) => gzipSync(readFileSync(path), { level: 6 }).length;
const files = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/** What the first page needs: what index.html names, what the code of the first page is loaded with, and what those import at once. */
function first(app) {
  const needed = new Set([join(app, "index.html")]);
  const add = (name) => {
    const path = join(app, "assets", name);
    if (needed.has(path)) return;
    needed.add(path);
    if (!name.endsWith(".js")) return;
    const code = readFileSync(path, "utf8");
    for (const [, name] of code.matchAll(/(?:^|[;}\s])(?:import|export)[^;"'`()]*?(?:from)?["'`]\.\/([^"'`]+)["'`]/gu))
      add(name);
    // The list of collections is the first page.
    const page = /import\(`\.\/Collections-[^`]+`\),__vite__mapDeps\(\[([\d,]+)\]\)/u.exec(code);
    const parts = page && JSON.parse(/m\.f=(\[[^\]]+\])/u.exec(code)[1]);
    for (const part of page?.[1].split(",") ?? []) add(parts[part].slice(2));
  };
  for (const [, name] of readFileSync(join(app, "index.html"), "utf8").matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/gu))
    add(name);
  if (![...needed].some((path) => path.includes("/Collections-")))
    throw new Error("the first page is loaded in another way");
  return [...needed];
}

// PDF.js is as large as all the rest, and is loaded only for the pages of a PDF.
const isPdf = (path) => /\/(?:Pdf|pdf\.worker)[^/]*$/u.test(path);
// Encodings of Chinese, Japanese and Korean: a file needs one or two of them.
const isEncoding = (path) => path.endsWith(".bcmap");
const app = files(join(dist, "app"));
const weights = {
  "first load": first(join(dist, "app")),
  "whole page": app.filter((path) => !isPdf(path) && !isEncoding(path)),
  "drawing of PDFs": app.filter(isPdf),
  "encodings of PDFs": app.filter(isEncoding),
  "standalone file": files(join(dist, "file")),
};
let isOver = false;
for (const [name, paths] of Object.entries(weights)) {
  const kilobytes = paths.reduce((sum, path) => sum + weigh(path), 0) / 1000;
  isOver ||= kilobytes > BUDGET[name];
  console.log(
    `${name}: ${kilobytes.toFixed(1)} kB gzip of at most ${BUDGET[name]} kB in ${paths.length} files${kilobytes > BUDGET[name] ? ": too much" : ""}`,
  );
}
process.exitCode = isOver ? 1 : 0;
