// Pictures of every page, light and dark, 1400 and 600 pixels wide, in target/screenshots: `npm run screenshots -- [NAME...]`.
// `npm run screenshots -- --docs` renews the pictures that README.md and docs/ show, in docs/page.

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { close, leave, open, root, run, serve, writePage } from "../e2e/helper.mjs";

/** Goes to a chunk of a document by its number; on a narrow page to the panel of chunks. */
async function chunk(page, width, number) {
  await page
    .getByText(/with it: \d+ tokens/u)
    .first()
    .waitFor({ timeout: 30_000 });
  if (width < 860) await page.getByRole("tab", { name: "Chunks" }).click();
  for (let n = 0; n <= number; n += 1) await page.keyboard.press("j");
  await page.waitForTimeout(400);
}

/** Pages: where they are, and what is done before the picture is taken. */
const PAGES = [
  {
    name: "collections",
    path: "/",
    until: (page) => page.getByRole("link", { name: "examples", exact: true }).waitFor(),
  },
  {
    name: "collection",
    path: "/c/examples?from=128&to=191",
    until: async (page) => {
      for (const part of [
        page.getByText("limit 256"),
        page.getByText(/^Nothing found/u),
        page.getByRole("button", { name: "Show these chunks" }),
      ])
        await part.waitFor();
    },
  },
  {
    name: "composition",
    path: "/c/examples",
    until: async (page) => {
      await page.getByText(/^All [\d,]+ lines with text/u).waitFor();
      await page.getByRole("heading", { name: "Composition" }).evaluate((heading) => heading.scrollIntoView());
      await page.waitForTimeout(300);
    },
  },
  {
    name: "chunks",
    path: "/c/examples?view=chunks&document=zh%2F&sort=longest",
    until: async (page) => {
      await page.getByText("limit 256").waitFor();
      await page.getByRole("row").nth(1).waitFor();
      if (page.viewportSize().width > 860) await page.getByRole("row").nth(1).click();
    },
  },
  {
    name: "documents",
    path: "/c/examples?view=documents",
    until: (page) => page.getByText("zh/vector-search.md").waitFor(),
  },
  { name: "edits", path: "/c/edits?view=changes", until: (page) => page.locator("article ins").first().waitFor() },
  {
    name: "versions",
    path: "/c/edits?view=versions",
    until: (page) => page.getByRole("heading", { name: "Runs" }).waitFor(),
  },
  {
    name: "jobs",
    path: "/jobs?job=1",
    until: (page) => page.getByRole("article").getByText("succeeded").first().waitFor(),
  },
  {
    name: "upload",
    path: "/upload?collection=handbook",
    until: async (page) => {
      // A new one for each picture, so that nothing is there already.
      await page.request.delete(new URL("/api/v1/collections/handbook", page.url()).href);
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles([
          ...["README.md", "docs/chunking.md", "docs/indexing.md"].map((path) => ({
            name: path,
            mimeType: "text/markdown",
            buffer: readFileSync(join(root, path)),
          })),
          {
            name: "picture.png",
            mimeType: "image/png",
            buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 0]),
          },
        ]);
      await page.getByRole("button", { name: /^Upload 4/u }).click();
      await page.getByText("1 file was not stored.").waitFor();
    },
  },
  {
    name: "log",
    path: "/log",
    until: (page) => page.getByRole("heading", { name: "Queries that found nothing" }).waitFor(),
  },
  {
    name: "try",
    path: "/try?collection=examples&doc=en%2Fparcel-api.md&max_size=200",
    until: async (page, width) => {
      await page.getByRole("region", { name: "What changes" }).waitFor();
      if (width < 860) await page.getByRole("tab", { name: "Source" }).click();
      await page.waitForTimeout(400);
    },
  },
  {
    name: "diff",
    path: "/c/examples/diff?max_size=200&doc=zh%2Fgreen-tea.md",
    until: async (page, width) => {
      await page.getByText(/^Compared in/u).waitFor();
      if (width < 860) await page.getByRole("tab", { name: "Changes" }).click();
      await page.locator("article :is(ins, del)").first().waitFor();
    },
  },
  {
    name: "original",
    path: "/c/papers/d/english.pdf?source=original",
    until: async (page, width) => {
      if (width < 860) await page.getByRole("tab", { name: "Source" }).click();
      await page.locator("[data-page] canvas").first().waitFor();
      await page.waitForTimeout(600);
    },
  },
  { name: "connect", path: "/connect", until: (page) => page.getByRole("heading", { level: 1 }).waitFor() },
  {
    name: "commands",
    path: "/",
    until: async (page) => {
      await page.getByRole("link", { name: "examples", exact: true }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
    },
  },
  {
    name: "document",
    path: "/c/examples/d/en%2Fparcel-api.md?view=why",
    until: (page, width) => chunk(page, width, 2),
  },
  {
    name: "document-edit",
    path: "/c/examples/d/ru%2Fstove.md",
    until: async (page, width) => {
      await chunk(page, width, 2);
      await page.keyboard.press("e");
      const field = page.getByRole("textbox", { name: "Keywords" });
      await field.fill("печка, дрова, розжиг");
      await field.press("Enter");
      await page.getByRole("textbox", { name: "Pinned queries" }).fill("как растопить печь");
      await page
        .getByRole("dialog")
        .getByText(/tokens of at most/u)
        .waitFor();
    },
  },
  {
    name: "document-marked",
    path: "/c/examples/d/zh%2Fgreen-tea.md?view=embedded",
    until: async (page, width) => {
      await chunk(page, width, 1);
      for (const key of ["x", "j", "x"]) await page.keyboard.press(key);
      await page.waitForTimeout(300);
    },
  },
  {
    name: "document-split",
    path: "/c/examples/d/en%2Fparcel-api.md",
    until: async (page, width) => {
      await chunk(page, width, 2);
      await page.keyboard.press("s");
      await page
        .getByRole("form", { name: /^Split/u })
        .getByRole("listitem")
        .nth(1)
        .waitFor();
    },
  },
  {
    name: "search",
    path: "/search?q=how+do+I+repeat+a+request+safely&c=vectors",
    until: (page) => page.locator("[data-entry] [role=img]").first().waitFor(),
  },
  {
    name: "search-compare",
    path: "/search?q=idempotency&c=vectors&compare=1&b_c=vectors&b_mode=lexical",
    until: (page) => page.locator("[data-entry] [role=img]").first().waitFor(),
  },
  {
    name: "search-why",
    path: "/search?q=馒头蒸好揭盖以后为什么会塌&c=vectors&panel=why&chunk=ru/stove.md%230",
    until: async (page, width) => {
      if (width < 860) await page.getByRole("tab", { name: "Details" }).click();
      await page.locator(".verdict").waitFor();
    },
  },
  {
    name: "search-agent",
    path: "/search?q=how+do+I+repeat+a+request+safely&c=manual&view=agent",
    until: (page) => page.locator("[data-tokens]").waitFor(),
  },
  {
    name: "file",
    file: true,
    until: async (page, width) => {
      if (width < 860) await page.getByRole("tab", { name: "Source" }).click();
      await page.getByText("# Bread with four ingredients").first().waitFor();
      for (let n = 0; n < 3; n += 1) await page.keyboard.press("j");
      await page.waitForTimeout(300);
    },
  },
];

/** A collection with edits by hand, some to be reviewed, in two generations. */
async function edits(api) {
  const ask = async (path, body) => {
    const answer = await fetch(`${api}/api/v1/${path}`, {
      ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  const text = readFileSync(join(root, "examples/corpus/en/bread.md"), "utf8");
  const put = (text) => ask("collections/edits/documents", { documents: [{ doc_id: "bread.md", text }] });
  await put(text);
  const { chunks } = await ask("collections/edits/chunks");
  const amend = (at, change) => ask("collections/edits/chunks/amend", { chunks: [chunks[at].chunk_id], ...change });
  await amend(0, { keywords: ["flour", "dough"], pins: ["how do I bake bread?"] });
  await amend(1, { text: chunks[1].text.replace("Keeping a starter", "Keeping a sourdough starter alive") });
  await amend(4, { enabled: false });
  await put(
    text
      .replace(/^(?=Flour)/mu, "This recipe is for one loaf. ")
      .replace(/(## Keeping a starter\n\n)(\S+ \S+)/u, "$1Every day, $2")
      .replace(/## What went wrong[\s\S]*?(?=\n## )/u, ""),
  );
  const { id } = await ask("jobs", { kind: "reindex", collection: "edits", settings: { max_size: 240 } });
  while (["queued", "running"].includes((await ask(`jobs/${id}`)).state))
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** What people and an agent asked for, some of it in vain. */
async function queries(api) {
  const post = (path, body, headers = {}) =>
    fetch(api + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const tool = (name, args) =>
    post(
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
    );
  const search = (query, collection = "vectors") => post("/api/v1/search", { query, collections: [collection] });
  for (const query of [
    "how do I repeat a request safely",
    "sourdough starter in the fridge",
    "绿茶怎么炒",
    "как растопить печь",
    "warranty period",
    "rate limits",
    "发票抬头怎么改",
  ])
    await search(query);
  for (const query of ["retry with backoff", "warranty period", "ферри расписание зимой", "idempotency key"])
    await tool("search", { query, collection: "vectors" });
  await tool("fetch", { id: "en/parcel-api.md#3", collection: "vectors" });
  await tool("outline", { doc_id: "en/parcel-api.md", collection: "vectors" });
  await search("warranty period", "manual");
}

/** The pictures in docs/page: light, 1400 pixels wide. */
const SHOWN = ["file", "search", "try"];

const isForDocs = process.argv.includes("--docs");
const folder = join(root, isForDocs ? "docs/page" : "target/screenshots");
mkdirSync(folder, { recursive: true });
const wanted = isForDocs ? SHOWN : process.argv.slice(2);
const server = await serve({
  env: { CHUNKWRIGHT_EMBEDDER: "static" },
  flags: ["--log-queries"],
  collections: ["examples"],
});
await edits(server.api);
run([
  "index",
  join(root, "examples/corpus"),
  "--collection",
  "vectors",
  "--store",
  server.store,
  "--embedder",
  "static",
  "--quiet",
]);
const papers = server.write("papers", {});
cpSync(join(root, "crates/chunkwright-source/tests/samples/english.pdf"), join(papers, "english.pdf"));
server.into("papers", papers);
// The path of a file that was indexed is in what an agent is told; one that was sent has none.
const sent = ["en/parcel-api.md", "zh/parcel-api.md", "ru/parcel-api.md"].map((doc_id) => ({
  doc_id,
  text: readFileSync(join(root, "examples/corpus", doc_id), "utf8"),
}));
await fetch(`${server.api}/api/v1/collections/manual/documents`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ documents: sent }),
});
await queries(server.api);
const file = writePage(
  join(server.folder, "chunks.html"),
  ["en/bread.md", "zh/green-tea.md", "code/tides.py"].map((path) => join(root, "examples/corpus", path)),
);
for (const { name, path, file: isFile, until } of PAGES) {
  if (wanted.length && !wanted.includes(name)) continue;
  for (const scheme of isForDocs ? ["light"] : ["light", "dark"]) {
    for (const width of isForDocs ? [1400] : [1400, 600]) {
      const page = await open(isFile ? file : server.url + path, { scheme, width, height: 900 });
      await until(page, width);
      await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) });
      await leave(page);
    }
  }
  console.log(name);
}
await close();
await server.stop();
