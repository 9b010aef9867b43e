// Pictures of every page for the documentation: light and dark, 1400 and 600 pixels wide. `npm run screenshots [NAME...]`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { close, open, root, run, serve } from "../e2e/helper.mjs";

/** Pages: where they are, and what is done before the picture is taken. */
const PAGES = [
  { name: "collections", path: "/", until: (page) => page.getByRole("link", { name: "examples" }).waitFor() },
  { name: "collection", path: "/c/examples", until: (page) => page.getByText("zh/vector-search.md").waitFor() },
  {
    name: "try", path: "/try?collection=examples&doc=en%2Fparcel-api.md&max_size=200",
    until: async (page, width) => {
      await page.getByRole("region", { name: "What changes" }).waitFor();
      if (width < 860) await page.getByRole("tab", { name: "Source" }).click();
      await page.waitForTimeout(400);
    },
  },
  {
    name: "diff", path: "/c/examples/diff?max_size=200&doc=zh%2Fgreen-tea.md",
    until: async (page, width) => {
      await page.getByText(/^Compared in/u).waitFor();
      if (width < 860) await page.getByRole("tab", { name: "Changes" }).click();
      await page.locator("article :is(ins, del)").first().waitFor();
    },
  },
  {
    name: "commands", path: "/",
    until: async (page) => {
      await page.getByRole("link", { name: "examples" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("option").first().waitFor();
    },
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

const folder = join(root, "docs/page");
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
const server = await serve();
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
