// The list of collections, and the documents of one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { accessible, close, open, serve, settled } from "./helper.mjs";
import { program } from "./store.mjs";

let server;
before(async () => {
  const many = Object.fromEntries(
    Array.from({ length: 130 }, (_, at) => [
      `notes/${String(at).padStart(3, "0")}.md`,
      `# Note ${at}\n\nSome text of it.\n`,
    ]),
  );
  server = await serve({ extra: { "many-notes": many } });
});
after(async () => {
  await close();
  await server?.stop();
});

test("collections are listed with their counts, and sorted by what is asked for", async () => {
  const page = await open(`${server.url}/`);
  const rows = page.getByRole("row");
  await page.getByRole("link", { name: "many-notes" }).waitFor();
  assert.equal(await rows.count(), 4);
  assert.match(await page.getByRole("row", { name: /examples/u }).innerText(), /22[\s\S]*193/u);
  await page.getByRole("button", { name: "Documents" }).click();
  await page.waitForURL(/sort=documents/u);
  await rows.nth(1).filter({ hasText: "hostile" }).waitFor();
  await page.getByRole("button", { name: "Documents" }).click();
  await page.waitForURL(/sort=-documents/u);
  await rows.nth(1).filter({ hasText: "many-notes" }).waitFor();
  await page.reload();
  await rows.nth(1).filter({ hasText: "many-notes" }).waitFor();
  await accessible(page);
  await settled(page);
});

test("all documents have their place, and a pattern finds some of them", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "many-notes" }).click();
  await page.getByRole("tab", { name: /^Documents/u }).click();
  await page.getByText("130 documents", { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("notes/12*.md");
  await page.waitForURL(/documents=notes/u);
  await page.getByText("10 documents", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("10 documents", { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("nothing/*");
  await page.getByText("No document matches this pattern.").waitFor();
  await settled(page);
});

for (const width of [1400, 600]) {
  test(`documents in three languages are shown at ${width} pixels without scrolling sideways`, async () => {
    const page = await open(`${server.url}/c/examples?view=documents`, { width });
    for (const name of ["en/bread.md", "zh/green-tea.md", "ru/stove.md"])
      await page.getByText(name, { exact: true }).waitFor();
    await accessible(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await settled(page);
  });
}

test("a collection says which folder is watched for it, until the process that watches ends", async () => {
  const folder = server.write("watched", { "a.md": "# A\n\nWords of it.\n" });
  const flags = ["--collection", "followed", "--store", server.store, "--embedder", "none"];
  const watcher = spawn(program, ["index", folder, "--watch", ...flags], { stdio: "ignore" });
  try {
    const page = await open(`${server.url}/`);
    const said = page
      .getByRole("list", { name: "What to look at" })
      .getByRole("listitem")
      .filter({ hasText: "Watched" });
    await said.getByRole("link", { name: `followed · ${folder}` }).waitFor();
    await accessible(page);
    watcher.kill("SIGKILL");
    await said.waitFor({ state: "detached" });
    await settled(page);
  } finally {
    watcher.kill("SIGKILL");
  }
});

test("a name of a document that is markup is text", async () => {
  const page = await open(`${server.url}/c/hostile?view=documents`);
  await page.getByText("<b onclick=hacked>.md").waitFor();
  assert.equal(await page.locator("b").count(), 0);
  await settled(page);
});

test("a store without a collection says how to make one", async () => {
  const page = await open(`${server.url}/health`);
  await page.route(/\/api\/v1\/collections\?/u, (route) => route.fulfill({ json: { collections: [], total: 0 } }));
  await page.goto(server.url);
  await page.getByText("chunkwright index ./docs --collection docs").waitFor();
  await accessible(page);
  await settled(page);
});
