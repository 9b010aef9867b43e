// What other settings would make of a collection, chunk by chunk, and the job that does it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, drawn, open, serve, settled } from "./helper.mjs";

let server;
before(async () => {
  const text = (at) =>
    Array.from(
      { length: 12 },
      (_, part) =>
        `## Part ${part} of ${at}\n\n${`Sentence ${part} of note ${at} says a little more than nothing. `.repeat(2 + ((at + part) % 5))}\n`,
    ).join("\n");
  const notes = Array.from({ length: 320 }, (_, at) => [
    `notes/${String(at).padStart(3, "0")}.md`,
    `# Note ${at}\n\n${text(at)}`,
  ]);
  const [many, few] = [notes, notes.slice(0, 20)].map(Object.fromEntries);
  server = await serve({ extra: { many, few } });
});
after(async () => {
  await close();
  await server?.stop();
});

const at = (collection, query = "") => `${server.url}/c/${collection}/diff${query && `?${query}`}`;
const call = async (method, path, body) =>
  (
    await fetch(`${server.api}${path}`, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    })
  ).json();
const kind = (page, name) =>
  page
    .getByRole("group", { name: "Filter by what changes" })
    .getByRole("button", { name: new RegExp(`(^|\\W)${name}`, "u") });
const count = async (page, name) => Number((await kind(page, name).innerText()).replace(/\D/gu, ""));
const ready = (page) => page.getByText(/^Compared in/u).waitFor();

test("a comparison counts what the engine counts, and settings change it", async () => {
  const page = await open(at("examples", "max_size=200"));
  await ready(page);
  const check = async (settings) => {
    const { summary } = await call("POST", "/api/v1/collections/examples/diff", { settings, summary_only: true });
    await page.locator(`[data-embed="${summary.tokens_to_embed}"]`).waitFor();
    for (const name of ["kept", "moved", "changed", "added", "removed"])
      assert.equal(await count(page, name), summary[name], name);
  };
  await check({ preset: "auto", max_size: 200 });
  await page.getByRole("combobox", { name: "Preset" }).selectOption("course");
  await page.waitForURL(/preset=course/u);
  await check({ preset: "course" });
  await settled(page);
});

for (const [doc, word] of [
  ["en/parcel-api.md", /\w/u],
  ["zh/green-tea.md", /\p{Script=Han}/u],
  ["ru/stove.md", /\p{Script=Cyrillic}/u],
  ["code/tides.py", /[a-z_]+/u],
]) {
  test(`words that change are marked in ${doc}`, async () => {
    const page = await open(at("examples", `preset=course&show=changed,added,removed&doc=${encodeURIComponent(doc)}`));
    await ready(page);
    await page.getByRole("heading", { name: doc }).waitFor();
    const list = page.getByRole("region", { name: `Changes of ${doc}` });
    await list.locator(":is(ins, del)").first().waitFor();
    assert.match((await list.locator(":is(ins, del)").allInnerTexts()).join(""), word);
    // Without its marks a changed chunk is the new text, as the engine has it.
    await page.goto(at("examples", `preset=course&show=changed&doc=${encodeURIComponent(doc)}`));
    const first = page.locator("article.changed").first();
    await first.locator(":is(ins, del)").first().waitFor();
    const more = first.getByRole("button", { name: "Show the whole text" });
    if (await more.count()) await more.click();
    const text = await first
      .locator("pre")
      .evaluate((pre) =>
        Array.from(pre.childNodes, (node) => (node.nodeName === "DEL" ? "" : node.textContent)).join(""),
      );
    const source = await (
      await fetch(`${server.api}/api/v1/collections/examples/documents/${encodeURIComponent(doc)}/source`)
    ).text();
    const { chunks } = await call("POST", "/api/v1/preview", {
      doc_id: doc,
      text: source,
      settings: { preset: "course" },
    });
    assert.ok(
      chunks.some((chunk) => chunk.text === text),
      `no chunk has the text ${text.slice(0, 200)}`,
    );
    await settled(page);
  });
}

test("kinds and names filter documents and chunks, and stand in the address", async () => {
  const page = await open(at("examples", "preset=stable"));
  await ready(page);
  const documents = page.getByRole("listbox", { name: "Documents" });
  await kind(page, "removed").click();
  await page.waitForURL(/show=removed/u);
  await page.locator("article").first().waitFor();
  assert.equal(await page.locator("article:not(.removed)").count(), 0);
  await kind(page, "removed").click();
  await page.getByRole("searchbox", { name: "Find a document" }).fill("zh/");
  await page.getByText("6 of 22").waitFor();
  await page.getByRole("searchbox", { name: "Find a document" }).press("Tab");
  await documents.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await page.waitForURL(/doc=zh%2Fvector-search\.md/u);
  await page.getByRole("heading", { name: "zh/vector-search.md" }).waitFor();
  await page.keyboard.press("[");
  await page.waitForURL(/doc=zh%2Fsteamed-bread\.md/u);
  await page.reload();
  await ready(page);
  await page.getByRole("heading", { name: "zh/steamed-bread.md" }).waitFor();
  await page.getByRole("link", { name: "Open in Try" }).click();
  await page.waitForURL(/\/try\?collection=examples&doc=zh\/steamed-bread\.md&preset=stable/u);
  await page.getByRole("region", { name: "Source: zh/steamed-bread.md" }).waitFor();
  await settled(page);
});

test("three hundred documents are compared, and any of them is looked at", async () => {
  const page = await open(at("many", "max_size=128"));
  await ready(page);
  const documents = page.getByRole("listbox", { name: "Documents" });
  await page.getByText("320 of 320").first().waitFor();
  assert.ok((await documents.getByRole("option").count()) < 40, "only documents that are seen are there");
  await documents.focus();
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: "notes/319.md" }).waitFor();
  await page.locator("article.changed :is(ins, del)").first().waitFor();
  await settled(page);
});

test("a comparison that is too large for an answer is a job, which shows how far it is and can be cancelled", async () => {
  const page = await open(at("many", "max_size=8"), { expects: [/status of 413/u] });
  await page
    .getByRole("status")
    .filter({ hasText: /Comparing… \d+ ?%/u })
    .waitFor();
  const jobs = async () =>
    (await call("GET", "/api/v1/jobs?collection=many")).jobs.filter(({ task }) => task.kind === "diff");
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Compare", exact: true }).waitFor();
  for (let state = ""; state !== "cancelled"; [{ state }] = await jobs())
    await new Promise((resolve) => setTimeout(resolve, 100));
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await ready(page);
  const [{ answer }] = await jobs();
  await page.locator(`[data-embed="${answer.summary.tokens_to_embed}"]`).waitFor();
  assert.equal(await count(page, "added"), answer.summary.added);
  await settled(page);
});

test("changes made by hand that are affected are listed and lead to their chunk", async () => {
  const { changes } = await call("POST", "/api/v1/collections/examples/diff", {
    settings: { preset: "auto", max_size: 150 },
  });
  const changed = changes.find(({ kind, doc_id }) => kind === "changed" && doc_id === "ru/stove.md");
  const kept = changes.find(({ kind }) => kind === "kept");
  await call("POST", "/api/v1/collections/examples/chunks/amend", {
    chunks: [changed.old.chunk_id, kept.old.chunk_id],
    enabled: false,
  });
  const page = await open(at("examples", "max_size=150"));
  await ready(page);
  await page.getByText("1 of 2 changes made by hand are affected").click();
  await accessible(page);
  await page.getByRole("button", { name: /disabled.*ru\/stove\.md/u }).click();
  await page.getByRole("heading", { name: "ru/stove.md" }).waitFor();
  await page.locator("article").getByText("changed by hand").waitFor();
  await settled(page);
});

test("a collection is cut again as a job, whose end says which version searches use", async () => {
  const page = await open(at("few", "max_size=100"));
  await ready(page);
  await page.getByRole("button", { name: "Cut again", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Cut few again" });
  await dialog.getByText(/^few@\d+/u).waitFor();
  await dialog.getByRole("button", { name: "Cut again", exact: true }).click();
  await page.waitForURL(/job=\d+/u);
  await dialog.getByText(/^Done\. Searches use few@\d+ now\.$/u).waitFor();
  const { generations } = await call("GET", "/api/v1/collections/few/versions");
  await dialog
    .getByText(`Searches use few@${generations.find(({ state }) => state === "current").generation} now.`)
    .waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.waitForURL((url) => url.search === "");
  await page.getByText("These settings are how the collection is cut now.").waitFor();
  assert.equal((await call("GET", "/api/v1/collections/few/configuration")).current.max_size, 100);
  assert.equal(await page.getByRole("button", { name: "Cut again", exact: true }).isDisabled(), true);
  await settled(page);
});

test("a job that fails or is cancelled says that searches use what they used", async () => {
  const page = await open(at("many", "max_size=180"));
  await ready(page);
  // The job waits for others, so that there is time to cancel it.
  const others = [];
  for (let max_size = 40; max_size < 240; max_size += 5) {
    others.push(
      (
        await call("POST", "/api/v1/jobs", {
          kind: "reindex",
          collection: "many",
          settings: { preset: "recursive", max_size },
        })
      ).id,
    );
  }
  await page.getByRole("button", { name: "Cut again", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Cut many again" });
  await dialog.getByRole("button", { name: "Cut again", exact: true }).click();
  await dialog.getByRole("button", { name: "Cancel job" }).click();
  await dialog
    .getByText(/cancelled|Done/u)
    .first()
    .waitFor();
  const { state } = await call("GET", `/api/v1/jobs/${new URL(page.url()).searchParams.get("job")}`);
  await dialog
    .getByText(state === "cancelled" ? "The job was cancelled. Searches use the version from before." : /^Done/u)
    .waitFor();
  assert.equal(state, "cancelled");
  for (const id of others) await fetch(`${server.api}/api/v1/jobs/${id}`, { method: "DELETE" });
  await settled(page);
});

test("hostile text and names stay text", async () => {
  const page = await open(
    at("hostile", `preset=recursive&max_size=40&doc=${encodeURIComponent("<b onclick=hacked>.md")}`),
  );
  await ready(page);
  await page.getByRole("heading", { name: "<b onclick=hacked>.md" }).waitFor();
  await page.locator(":is(ins, del)").first().waitFor();
  assert.equal(await page.locator("#main :is(script, iframe, img, svg[onload], form[action], base)").count(), 0);
  assert.ok((await page.locator(".unseen").count()) > 0, "what is not seen is shown by its code");
  await settled(page);
});

test("a collection that does not exist is a problem that says so", async () => {
  const page = await open(at("nothing-here"), { expects: [/status of 404/u] });
  await page
    .getByText(/unknown collection/u)
    .first()
    .waitFor();
  await accessible(page);
  await settled(page);
});

for (const width of [1400, 600]) {
  test(`the page is accessible and does not scroll sideways at ${width} pixels`, async () => {
    const page = await open(at("examples", "preset=course"), { width });
    await ready(page);
    for (const name of width < 860 ? ["Settings", "Documents", "Changes"] : [null]) {
      if (name) await page.getByRole("tab", { name, exact: true }).click();
      await drawn(page);
      await accessible(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, name);
    }
    await settled(page);
  });
}

for (const [locale, text] of [
  ["zh-CN", "重新切分 examples"],
  ["ru-RU", "Нарезать examples заново"],
]) {
  test(`the page speaks ${locale}`, async () => {
    const page = await open(at("examples", "max_size=200"), { locale });
    await page.getByRole("heading", { name: text }).waitFor();
    await page.locator("article").first().waitFor();
    await accessible(page);
    await settled(page);
  });
}
