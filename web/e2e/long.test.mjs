// Lists of more than ten thousand entries: a scroll bar over the whole, only what one looks at is loaded, and a field leads to a place.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, open, serve, settled } from "./helper.mjs";

const NUMBER = 10_500;
const nameOf = (at) => `notes/${String(at).padStart(5, "0")}.md`;

let server;
before(async () => {
  server = await serve({ collections: [], flags: ["--embedder", "none"] });
  for (let from = 0; from < NUMBER; from += 1_500) {
    const documents = Array.from({ length: 1_500 }, (_, at) => ({
      doc_id: nameOf(from + at),
      text: `# Note ${from + at}\n\nWhat is said in note ${from + at}.\n`,
    }));
    const answer = await fetch(`${server.api}/api/v1/collections/many/documents`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ documents }),
    });
    assert.equal(answer.status, 201);
  }
});
after(async () => {
  await close();
  await server?.stop();
});

/** The requests of a list that a page makes from now on. */
function asked(page, name) {
  const all = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith(`/many/${name}`) && request.method() === "GET") all.push(searchParams);
  });
  return all;
}
/** Waits until all rows in sight are loaded. */
const loaded = (page) =>
  page.waitForFunction(() => {
    const rows = document.querySelectorAll("#main [aria-rowindex]");
    return rows.length > 5 && !document.querySelector("#main [aria-busy=true]");
  });
const rowOf = (page, name) => page.getByRole("row").filter({ hasText: name });
async function goTo(page, text) {
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

test("a scroll bar stands for all documents, and those are loaded that one looks at", async () => {
  const page = await open(`${server.url}/c/many`);
  const requests = asked(page, "documents");
  await page.getByRole("tab", { name: /^Documents/u }).click();
  await page.getByText("10,500 documents", { exact: true }).waitFor();
  const table = page.getByRole("table", { name: "Documents" });
  assert.equal(await table.getAttribute("aria-rowcount"), String(NUMBER + 1));
  assert.ok((await table.evaluate((list) => list.scrollHeight)) > 30 * NUMBER);
  assert.equal(requests.length, 1);
  await table.evaluate((list) => (list.scrollTop = list.scrollHeight / 2));
  await rowOf(page, nameOf(NUMBER / 2 + 2)).waitFor();
  await loaded(page);
  assert.ok(requests.length <= 3, `${requests.length} requests for the middle`);
  const [index, name] = await page
    .getByRole("row")
    .nth(3)
    .evaluate((row) => [row.ariaRowIndex, row.querySelector("a").textContent]);
  assert.equal(name, nameOf(Number(index) - 2), "a row has its place of the whole");
  assert.ok(Math.abs(Number(index) - NUMBER / 2) < 50);
  assert.ok((await page.getByRole("row").count()) < 60);
  // Over the whole in eighty steps, as a drag of the scroll bar.
  const before = requests.length;
  await table.evaluate(async (list) => {
    for (let step = 0; step <= 80; step += 1) {
      list.scrollTop = (step / 80) * list.scrollHeight;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
  await rowOf(page, nameOf(NUMBER - 1)).waitFor();
  await loaded(page);
  assert.ok(requests.length - before <= 82, `${requests.length - before} requests`);
  const pages = requests.map((query) => `${query.get("skip")} ${query.get("cursor")}`);
  assert.equal(new Set(pages).size, pages.length, "none is asked for twice");
  // By keys, from the first to the last.
  await table.focus();
  await page.keyboard.press("Home");
  await rowOf(page, nameOf(0)).waitFor();
  await page.keyboard.press("End");
  await rowOf(page, nameOf(NUMBER - 1)).waitFor();
  await loaded(page);
  await accessible(page);
  await settled(page);
});

test("a name leads to its document by keys and by the address; marks and places stay when some are deleted", async () => {
  const page = await open(`${server.url}/c/many?view=documents`);
  await page.getByText("10,500 documents", { exact: true }).waitFor();
  const requests = asked(page, "documents");
  await goTo(page, "notes/07311");
  await page.getByText(`${nameOf(7311)}: 7,312 of 10,500`).waitFor({ state: "attached" });
  await page.waitForFunction((name) => document.activeElement?.textContent === name, nameOf(7311));
  assert.ok(requests.length <= 16, `${requests.length} requests`);
  await page.waitForURL(/at=notes%2F07311/u);
  await page.reload();
  await rowOf(page, nameOf(7311)).waitFor();
  await loaded(page);
  await page.getByRole("checkbox", { name: `Mark ${nameOf(7311)}` }).check();
  await goTo(page, "notes/002");
  await rowOf(page, nameOf(200)).waitFor();
  await page.getByRole("checkbox", { name: `Mark ${nameOf(200)}` }).check();
  await page.getByText("2 documents marked").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page
    .getByRole("dialog")
    .getByText(/2 documents with 2 chunks/u)
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("10,498 documents", { exact: true }).waitFor();
  await rowOf(page, nameOf(201)).waitFor();
  assert.equal(await rowOf(page, nameOf(200)).count(), 0);
  await goTo(page, "notes/07311");
  await page.waitForFunction((name) => document.activeElement?.textContent === name, nameOf(7312));
  // What is behind the last leads to the last.
  await goTo(page, "z");
  await page.waitForFunction((name) => document.activeElement?.textContent === name, nameOf(NUMBER - 1));
  await page.getByRole("searchbox").fill("notes/104*");
  await page.getByText("100 documents", { exact: true }).waitFor();
  await page.waitForURL((url) => !url.searchParams.has("at"));
  assert.equal(
    await page.getByRole("row").count(),
    101,
    "a short list is there as a whole, to be searched by the browser",
  );
  await settled(page);
});

test("rows of documents do not overlap when text is twice as large", async () => {
  const page = await open(`${server.url}/c/many?view=documents&at=notes/05000`, { width: 900 });
  await rowOf(page, nameOf(5000)).waitFor();
  await page.evaluate(() => (document.body.style.fontSize = "28px"));
  await page.waitForFunction(() => {
    const rows = Array.from(document.querySelectorAll("#main [data-row]"), (row) => row.getBoundingClientRect());
    return rows.length > 3 && rows[1].height > 45 && rows.slice(1).every((row, at) => row.top >= rows[at].bottom - 1);
  });
  await rowOf(page, nameOf(5000)).waitFor();
  await settled(page);
});

test("chunks: keys, numbers and names lead anywhere, ranges are marked over what is not loaded, and changes stay", async () => {
  const page = await open(`${server.url}/c/many?view=chunks`);
  const total = new Intl.NumberFormat("en").format((await count()).chunks);
  await page.getByText(`${total} chunks`, { exact: true }).waitFor();
  const grid = page.getByRole("grid");
  const selected = page.getByRole("row", { selected: true });
  const last = (await count()).chunks;
  assert.equal(await grid.getAttribute("aria-rowcount"), String(last));
  const requests = asked(page, "chunks");
  await grid.focus();
  await page.keyboard.press("End");
  await selected.getByText(nameOf(NUMBER - 1)).waitFor();
  assert.equal(await selected.getAttribute("aria-rowindex"), String(last));
  assert.ok(requests.length <= 2, `${requests.length} requests for the end`);
  await goTo(page, "notes/06000");
  await selected.getByText(nameOf(6000)).waitFor();
  await page.waitForURL(/at=notes%2F06000/u);
  assert.ok(requests.length <= 19, `${requests.length} requests for a name`);
  // What is marked from here to there is marked in between as well.
  await goTo(page, "300");
  await page.waitForURL(/at=300/u);
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "grid");
  await page.keyboard.press("x");
  await goTo(page, "1000");
  await page.waitForFunction(() => document.querySelector("[role=row][aria-selected=true]")?.ariaRowIndex === "1000");
  await page.keyboard.press("Shift+X");
  await page.getByText("701 chunks marked").waitFor();
  await page.getByRole("button", { name: "Disable", exact: true }).first().click();
  await page.getByText("701 chunks disabled.").first().waitFor();
  assert.equal((await count()).disabled, 701);
  await selected.getByText("disabled").waitFor();
  assert.equal(await selected.getAttribute("aria-rowindex"), "1000", "the list stays where it is");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("701 chunks enabled.").waitFor();
  // A chunk that is disabled in a list of the enabled ones keeps its place, and those behind it theirs.
  await page.getByLabel("Enabled or disabled").selectOption("enabled");
  await page.waitForURL((url) => !url.searchParams.has("at"));
  await page.getByText(`${total} chunks`, { exact: true }).waitFor();
  await goTo(page, "10");
  await page.waitForFunction(() => document.querySelector("[role=row][aria-selected=true]")?.ariaRowIndex === "10");
  await page.keyboard.press("e");
  await page.getByText("1 chunk disabled.").waitFor();
  await goTo(page, "5000");
  const behind = (
    await fetch(`${server.api}/api/v1/collections/many/chunks?skip=4998&limit=1&visibility=enabled`)
  ).json();
  await selected.getByText((await behind).chunks[0].doc_id).waitFor();
  await accessible(page);
  await settled(page);
});

async function count() {
  const answer = await fetch(`${server.api}/api/v1/collections/many/statistics`);
  return answer.json();
}
