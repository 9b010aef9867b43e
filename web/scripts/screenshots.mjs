// Pictures of every page for the documentation: light and dark, 1400 and 600 pixels wide. `npm run screenshots [NAME...]`.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { close, open, root, run, serve } from "../e2e/helper.mjs";

/** Pages: where they are, and what is done before the picture is taken. */
const PAGES = [
  { name: "collections", path: "/", until: (page) => page.getByRole("link", { name: "examples" }).waitFor() },
  { name: "collection", path: "/c/examples", until: (page) => page.getByText("zh/vector-search.md").waitFor() },
  {
    name: "commands", path: "/",
    until: async (page) => {
      await page.getByRole("link", { name: "examples" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
    },
  },
  { name: "search", path: "/search?q=how+do+I+repeat+a+request+safely&c=vectors", until: (page) => page.locator("[data-entry] [role=img]").first().waitFor() },
  { name: "search-compare", path: "/search?q=idempotency&c=vectors&compare=1&b_c=vectors&b_mode=lexical", until: (page) => page.locator("[data-entry] [role=img]").first().waitFor() },
  {
    name: "search-why", path: "/search?q=馒头蒸好揭盖以后为什么会塌&c=vectors&panel=why&chunk=ru/stove.md%230",
    until: async (page, width) => {
      if (width < 860) await page.getByRole("tab", { name: "Details" }).click();
      await page.locator(".verdict").waitFor();
    },
  },
  { name: "search-agent", path: "/search?q=how+do+I+repeat+a+request+safely&c=manual&view=agent", until: (page) => page.locator("[data-tokens]").waitFor() },
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

const folder = join(root, "docs/page");
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
const server = await serve({ env: { CHUNKWRIGHT_EMBEDDER: "static" } });
run(["index", join(root, "examples/corpus"), "--collection", "vectors", "--store", server.store, "--embedder", "static", "--quiet"]);
// The path of a file that was indexed is in what an agent is told; one that was sent has none.
const sent = ["en/parcel-api.md", "zh/parcel-api.md", "ru/parcel-api.md"].map((doc_id) => ({ doc_id, text: readFileSync(join(root, "examples/corpus", doc_id), "utf8") }));
await fetch(`${server.api}/api/v1/collections/manual/documents`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ documents: sent }) });
const file = join(server.folder, "chunks.html");
run(["chunk", join(root, "examples/corpus/en/bread.md"), join(root, "examples/corpus/zh/green-tea.md"), join(root, "examples/corpus/code/tides.py"), "--format", "html", "-o", file, "--quiet"]);
for (const { name, path, file: isFile, until } of PAGES) {
  if (wanted.length && !wanted.includes(name)) continue;
  for (const scheme of ["light", "dark"]) {
    for (const width of [1400, 600]) {
      const page = await open(isFile ? `file://${file}` : server.url + path, { scheme, width, height: 900 });
      await until(page, width);
      await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) });
      await page.context().close();
    }
  }
  console.log(name);
}
await close();
await server.stop();
