// The document workbench: outline, source and chunks side by side, and what is changed of chunks by hand.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, drawn, open, run, serve, settled } from "./helper.mjs";

const section = (n, extra = "") =>
  `## Section ${n}\n\nThe ferry number ${n} leaves the harbour at ${n} o'clock every morning of the week, and the harbour master writes it into his large book of arrivals and departures. ${extra}Nobody has ever asked him why he does so, but everyone in the village knows that the book is kept in a dry place behind the stove where the cat sleeps.\n\n`;
const guide = (sections, extra = "") =>
  `# Guide\n\n${sections.map((n) => section(n, n > 0 && n < 5 ? extra : "")).join("")}`;
const lines = Array.from({ length: 10_000 }, (_, at) =>
  at % 25 === 0
    ? `## Part ${at / 25}`
    : at % 5 === 1
      ? ""
      : `Line ${at} of the long file says what the ${at % 7} ferries of the ${at % 11} harbours do.`,
).join("\n");

let server;
before(async () => {
  server = await serve({ extra: { long: { "long.md": lines } } });
});
after(async () => {
  await close();
  await server?.stop();
});

async function call(method, path, body) {
  const answer = await fetch(`${server.api}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.status === 204 ? null : answer.json();
}
const chunksOf = async (collection) => (await call("GET", `/collections/${collection}/chunks?limit=1000`)).chunks;
const put = (collection, text, doc_id = "guide.md") =>
  call("POST", `/collections/${collection}/documents`, { documents: [{ doc_id, text }] });
const overlaysOf = async (collection) => (await call("GET", `/collections/${collection}/overlays`)).overlays;
const address = (collection, doc_id, query = "") =>
  `${server.url}/c/${encodeURIComponent(collection)}/d/${encodeURIComponent(doc_id)}${query}`;

/** A document that was just stored, opened when its chunks are there. */
async function workbench(collection, doc_id, { query = "", ...options } = {}) {
  const page = await open(address(collection, doc_id, query), options);
  await page
    .getByText(/^\d[\d,]* tokens$/u)
    .first()
    .waitFor();
  return page;
}
const grid = (page) => page.getByRole("grid", { name: "Chunks" });
const selectedCard = (page) => page.locator('[role="row"][aria-selected="true"]');
const detail = (page) => page.getByRole("region", { name: "Selected chunk" });

for (const [doc_id, outline, text] of [
  ["en/parcel-api.md", "Signed webhooks", "We sign each webhook"],
  ["zh/green-tea.md", null, "茶"],
  ["ru/stove.md", null, "печ"],
]) {
  test(`${doc_id} is shown with its outline, its source and its chunks`, async () => {
    const page = await workbench("examples", doc_id);
    await page.getByRole("treeitem").nth(1).waitFor();
    if (outline) await page.getByRole("treeitem", { name: outline }).waitFor();
    await page.locator(".row .lineno").nth(10).waitFor();
    await page.locator(".row.first .cut").nth(1).waitFor();
    await page
      .getByRole("region", { name: `Source: ${doc_id}` })
      .getByText(text)
      .first()
      .waitFor();
    await page.getByText("limit 256", { exact: true }).waitFor();
    await accessible(page);
    await settled(page);
  });
}

test("a document opens whatever its name is, from the list of documents as well", async () => {
  const names = ['a"b.md', "a*b.md", "a{b.md", "a\\b.md", '\\".md', "[a]b?.md", "50% #1.md", '茶"*.md'];
  await put("names", "# Other\n\nWhat the names mean as patterns.\n", "axb.md");
  for (const [at, name] of names.entries()) await put("names", `# Heading ${at}\n\nOnly this one says ${at}.\n`, name);
  const page = await open(`${server.url}/health`);
  for (const [at, name] of names.entries()) {
    await page.goto(address("names", name));
    await grid(page).getByText(`Only this one says ${at}.`).first().waitFor();
    assert.equal(await grid(page).getByRole("row").count(), 1, name);
  }
  await page.goto(`${server.url}/c/names?view=documents`);
  await page.getByRole("link", { name: 'a"b.md' }).click();
  await page.getByText("Only this one says 0.").first().waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Show the chunks of a\\b.md", exact: true }).click();
  await page.getByText("Only this one says 3.").first().waitFor();
  assert.equal(await page.getByText("Only this one says 0.").count(), 0);
  await settled(page);
});

test("chunk, source and outline lead to each other, and the selection is in the address", async () => {
  const page = await workbench("examples", "en/parcel-api.md");
  await page.getByRole("treeitem", { name: "Signed webhooks" }).click();
  await page.waitForURL(/chunk=[0-9a-f]{32}/u);
  assert.match(await selectedCard(page).innerText(), /Signed webhooks/u);
  assert.ok((await page.locator(".row.selected").count()) > 3);
  await page.keyboard.press("j");
  await page.waitForFunction(() =>
    document.querySelector('[role="row"][aria-selected="true"]')?.textContent.includes("#2"),
  );
  assert.match(await page.locator(".item.current").innerText(), /Shipments/u);
  // What is pointed at in one view is marked in the others.
  await page.locator(".row.first").first().hover();
  await page.locator(".card.hovered").waitFor();
  await page.getByRole("treeitem", { name: "Signed webhooks" }).hover();
  await page.locator('.row.hovered[data-chunk="1"]').first().waitFor();
  // A click in the source selects, and the list follows.
  await page.locator(".row.first .cut").last().click();
  const number = await page.locator(".row.selected .number").innerText();
  await page.waitForFunction(
    (number) => document.querySelector('[role="row"][aria-selected="true"]')?.textContent.includes(number),
    number,
  );
  // The address follows when keys and clicks rest.
  const { chunk_id } = (await chunksOf("examples")).find(
    (chunk) => chunk.doc_id === "en/parcel-api.md" && `#${chunk.chunk_index}` === number,
  );
  await page.waitForURL((url) => url.searchParams.get("chunk") === chunk_id);
  const url = page.url();
  await page.reload();
  await page.waitForFunction(
    (number) => document.querySelector('[role="row"][aria-selected="true"]')?.textContent.includes(number),
    number,
  );
  assert.equal(page.url(), url);
  await settled(page);
});

test("arrow keys move through the outline, and chunk and source follow", async () => {
  const page = await workbench("examples", "en/parcel-api.md");
  const all = (await chunksOf("examples")).filter(({ doc_id }) => doc_id === "en/parcel-api.md");
  await page.getByRole("tree", { name: "Outline" }).focus();
  const shows = async (title, line) => {
    const item = page.locator(".item.active");
    await item.getByText(title, { exact: true }).waitFor();
    await page
      .getByRole("region", { name: /Source/u })
      .getByText(title)
      .first()
      .waitFor();
    const at = all.findLast(({ start_line }) => start_line <= line);
    await page.waitForURL((url) => url.searchParams.get("chunk") === at.chunk_id);
    await selectedCard(page).getByText(`#${at.chunk_index}`, { exact: true }).first().waitFor();
    await page.locator(`.row.selected[data-chunk="${at.chunk_index}"]`).first().waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "tree");
  };
  const titles = await page.getByRole("treeitem").locator(".title").allInnerTexts();
  const source = (
    await (
      await fetch(
        `${server.api}/api/v1/collections/examples/documents/${encodeURIComponent("en/parcel-api.md")}/source`,
      )
    ).text()
  ).split("\n");
  const lineOf = (title) => source.findIndex((line) => /^#+ /u.test(line) && line.endsWith(` ${title}`)) + 1;
  for (const [key, at] of [
    ["ArrowDown", 1],
    ["ArrowDown", 2],
    ["ArrowUp", 1],
    ["End", titles.length - 1],
    ["Home", 0],
  ]) {
    await page.keyboard.press(key);
    await shows(titles[at], lineOf(titles[at]));
  }
  // The tree closes and opens without going anywhere.
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((count) => document.querySelectorAll("[role=treeitem]").length < count, titles.length);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((count) => document.querySelectorAll("[role=treeitem]").length === count, titles.length);
  await settled(page);
});

test("the address of a chunk alone opens its document at it", async () => {
  const chunk = (await chunksOf("examples")).find(
    ({ doc_id, chunk_index }) => doc_id === "en/parcel-api.md" && chunk_index === 8,
  );
  const page = await open(`${server.url}/c/examples/k/${chunk.chunk_id}`);
  await page.waitForURL(/\/d\/en\/parcel-api\.md\?chunk=/u);
  await page.locator(".row.selected .number").getByText("#8").waitFor();
  assert.match(await selectedCard(page).innerText(), /#8/u);
  await settled(page);
  const byIndex = await open(`${server.url}/c/examples/k/${encodeURIComponent("en/parcel-api.md#3")}`);
  await byIndex.locator(".row.selected .number").getByText("#3").waitFor();
  const gone = await open(`${server.url}/c/examples/k/${"0".repeat(32)}`, { expects: [/404/u] });
  await gone.getByText("No chunk has this id").waitFor();
  const lost = await open(address("examples", "no/such.md"), { expects: [/404/u] });
  await lost.getByText("This document is not in the collection").waitFor();
  await accessible(lost);
  const line = await open(address("examples", "en/parcel-api.md", "?lines=125-137"));
  await line.locator(".row.selected").first().waitFor();
  assert.match(await selectedCard(line).innerText(), /Errors/u);
});

test("why a chunk is cut where it is stands on its mark and in full beside it", async () => {
  const page = await workbench("examples", "en/parcel-api.md", { query: "?view=why" });
  await page
    .locator(".why")
    .getByText(/Section “Signed webhooks” begins · #0 with it: \d+ tokens, limit 256/u)
    .waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await detail(page).getByText("Section “Signed webhooks” begins").waitFor();
  await detail(page)
    .getByText(/“Shipments” begins after it/u)
    .waitFor();
  await detail(page)
    .getByText(/133 tokens of at most 256/u)
    .waitFor();
  await detail(page).getByText("heading path").waitFor();
  // Where it could have been cut as well: a list of lines, and ticks in the source.
  assert.ok((await page.locator(".lineno.tick").count()) > 0);
  await detail(page).getByRole("button", { name: "line 22" }).click();
  await accessible(page);
  await settled(page);
});

test("the text of a chunk is shown rendered, raw and as it is embedded", async () => {
  const page = await workbench("examples", "en/parcel-api.md");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await detail(page).getByRole("heading", { name: "Signed webhooks" }).waitFor();
  await detail(page).getByRole("tab", { name: "Raw" }).click();
  await detail(page).getByText("### Signed webhooks").waitFor();
  await page.waitForURL(/view=raw/u);
  await detail(page).getByRole("tab", { name: "Embedded" }).click();
  assert.equal((await detail(page).locator(".borrowed").innerText()).trim(), "Authentication");
  await detail(page).getByRole("tab", { name: "Details" }).click();
  await detail(page)
    .getByText("section".toUpperCase())
    .or(detail(page).getByText("Section", { exact: true }))
    .first()
    .waitFor();
  await detail(page).getByRole("button", { name: /^#2/u }).click();
  await page.waitForFunction(() =>
    document.querySelector('[role="row"][aria-selected="true"]')?.textContent.includes("#2"),
  );
  await settled(page);
});

test("chunks are filtered by text, state, size and cut, and the filter is in the address", async () => {
  const page = await workbench("examples", "en/parcel-api.md");
  await page.keyboard.press("/");
  await page.keyboard.type("hmac");
  await page.getByText("1 of 12 chunks shown").waitFor();
  await page.waitForURL(/q=hmac/u);
  assert.ok((await page.locator(".row.out").count()) > 0);
  await page.reload();
  await page.getByText("1 of 12 chunks shown").waitFor();
  await page.getByRole("button", { name: "Clear filter" }).click();
  await page.getByRole("combobox", { name: "Cut" }).selectOption("merged");
  await page.waitForURL(/cut=merged/u);
  assert.match(await page.locator("summary").innerText(), /[1-9] of 12/u);
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.search.includes("cut"));
  const handle = page.getByRole("slider", { name: "Greatest size shown" });
  for (let n = 0; n < 8; n += 1) await handle.press("ArrowLeft");
  await page.waitForURL(/size=0-\d+/u);
  await settled(page);
});

test("chunks are disabled and enabled one at a time and together", async () => {
  await put("switch", guide([0, 1, 2, 3, 4, 5, 6, 7]));
  const page = await workbench("switch", "guide.md");
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await page.getByText("Chunk 0 disabled: searches do not find them").waitFor();
  await selectedCard(page).getByText("disabled").waitFor();
  assert.deepEqual((await chunksOf("switch")).map(({ enabled }) => enabled).indexOf(false), 0);
  await page.getByRole("button", { name: "Undo" }).click();
  await selectedCard(page).getByText("disabled").waitFor({ state: "detached" });
  assert.ok((await chunksOf("switch")).every(({ enabled }) => enabled));
  await page.getByRole("button", { name: "Disable chunk 3" }).click();
  await page.getByRole("button", { name: "Enable chunk 3" }).waitFor();
  // Mark a range with x and Shift+x, then disable all of it.
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Shift+X");
  await page.getByText("3 marked").waitFor();
  await page.getByRole("toolbar").getByRole("button", { name: "Disable" }).click();
  await page.getByText("3 chunks disabled").waitFor();
  assert.deepEqual(
    (await chunksOf("switch")).map(({ enabled }) => enabled),
    [false, false, false, false, true, true, true, true],
  );
  await page.getByRole("combobox", { name: "Show" }).selectOption("disabled");
  await page.getByText("4 of 8 chunks shown").waitFor();
  await page.getByRole("button", { name: "Mark all shown" }).click();
  await page.getByText("4 marked").waitFor();
  await accessible(page);
  await page.getByRole("toolbar").getByRole("button", { name: "Enable" }).click();
  await page.getByText("4 chunks enabled").waitFor();
  assert.ok((await chunksOf("switch")).every(({ enabled }) => enabled));
  await page.getByText("No chunk passes the filter.").waitFor();
  await settled(page);
});

test("the embedded text, keywords and pinned queries are edited, found and taken back", async () => {
  await put("edit", guide([0, 1, 2, 3]));
  const page = await workbench("edit", "guide.md", { expects: [/413/u] });
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Edit chunk 1" });
  const text = dialog.getByRole("textbox", { name: "Text to embed and search" });
  await dialog.getByText(/^\d+ tokens of at most 256$/u).waitFor();
  await accessible(page);
  // Over the limit nothing can be saved.
  await text.fill("word ".repeat(400));
  await dialog.getByText("144 tokens over the limit").waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Save" }).isDisabled(), true);
  await text.fill("");
  await dialog.getByText("The text is empty. Disable the chunk instead.").waitFor();
  await text.fill("The boat sails at one.");
  await dialog.getByText("6 tokens of at most 256").waitFor();
  await dialog.getByRole("button", { name: "Show differences" }).click();
  await dialog.locator("ins").first().waitFor();
  await dialog.getByRole("textbox", { name: "Keywords" }).fill("timetable, расписание");
  await dialog.getByRole("textbox", { name: "Keywords" }).press("Enter");
  await dialog.getByRole("textbox", { name: "Pinned queries" }).fill("when does the boat leave");
  // A draft survives closing, and the key right after is not lost.
  await Promise.all([page.keyboard.press("Escape"), page.keyboard.press("e")]);
  await dialog.getByText("Your unsaved changes are still here.").waitFor();
  assert.equal(await text.inputValue(), "The boat sails at one.");
  await dialog.getByRole("textbox", { name: "Pinned queries" }).fill("when does the boat leave");
  await text.press("Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await selectedCard(page).getByText("edited").waitFor();
  await selectedCard(page).getByText("pinned").waitFor();
  await selectedCard(page).getByText("6 tokens").waitFor();
  const [overlay] = await overlaysOf("edit");
  assert.deepEqual(
    [overlay.text, overlay.keywords, overlay.pins],
    ["The boat sails at one.", ["timetable", "расписание"], ["when does the boat leave"]],
  );
  const found = await call("GET", `/search?q=${encodeURIComponent("when does the boat leave")}&collection=edit`);
  assert.equal(found.hits[0].chunk_id, overlay.on);
  await page.getByRole("combobox", { name: "Show" }).selectOption("changed");
  await page.getByText("1 of 4 chunks shown").waitFor();
  // The edit is shown, taken back, and put back.
  await detail(page)
    .getByRole("tab", { name: /By hand/u })
    .click();
  await detail(page).getByText("In force on this chunk.").waitFor();
  await detail(page).locator("del").first().waitFor();
  await accessible(page);
  await detail(page).getByRole("button", { name: "Take all back" }).click();
  await page.getByText("Taken back").waitFor();
  assert.deepEqual(await overlaysOf("edit"), []);
  await page.getByRole("button", { name: "Undo" }).click();
  await detail(page).getByText("In force on this chunk.").waitFor();
  assert.equal((await overlaysOf("edit"))[0].text, "The boat sails at one.");
  // Together: marked chunks lose their changes after a question.
  await page.keyboard.press("x");
  await page.getByRole("toolbar").getByRole("button", { name: "Take changes back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Take changes back" }).click();
  await page.getByText("Changes of 1 chunk were taken back").waitFor();
  assert.deepEqual(await overlaysOf("edit"), []);
  await settled(page);
});

test("what another saved meanwhile is shown and not overwritten unseen", async () => {
  await put("meanwhile", guide([0, 1]));
  const [chunk] = await chunksOf("meanwhile");
  const page = await workbench("meanwhile", "guide.md", { expects: [/412/u] });
  const edit = async (mine, theirs) => {
    await page.keyboard.press("e");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Text to embed and search" }).fill(mine);
    await call("PATCH", `/collections/meanwhile/chunks/${chunk.chunk_id}`, { text: theirs });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("This chunk was changed meanwhile").waitFor();
    return dialog;
  };
  await page.keyboard.press("j");
  let dialog = await edit("My words.", "Their words.");
  assert.equal((await overlaysOf("meanwhile"))[0].text, "Their words.");
  assert.match(await dialog.locator("del").innerText(), /Their/u);
  await accessible(page);
  await dialog.getByRole("button", { name: "Save mine over it" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await overlaysOf("meanwhile"))[0].text, "My words.");
  dialog = await edit("Mine again.", "Theirs again.");
  await dialog.getByRole("button", { name: "Use theirs" }).click();
  assert.equal(await dialog.getByRole("textbox", { name: "Text to embed and search" }).inputValue(), "Theirs again.");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await overlaysOf("meanwhile"))[0].text, "Theirs again.");
  await settled(page);
});

test("changes that were carried, conflict or lost their chunk are reviewed", async () => {
  await put("review", guide([0, 1, 2, 3, 4, 5, 6, 7]));
  const before = await chunksOf("review");
  const change = (at, what) => call("PATCH", `/collections/review/chunks/${before[at].chunk_id}`, what);
  await change(1, { keywords: ["timetable"] });
  await change(2, { text: "A text of mine." });
  await change(3, { text: "Another text of mine." });
  await change(6, { keywords: ["gone"] });
  await change(7, { enabled: false });
  await put(
    "review",
    `${guide([0, 1, 2, 3, 4, 5], "Since last year he has used a pencil. ")}## Other\n\nNothing like it was here: mountains, bread and honey.\n`,
  );
  const page = await workbench("review", "guide.md", { query: "?view=hand" });
  await page.getByText("5 changes by hand need a review").waitFor();
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("3 of 6 chunks shown").waitFor();
  await page.keyboard.press("j");
  await selectedCard(page).getByText("carried: review").waitFor();
  await detail(page)
    .getByText(/It was carried to this one/u)
    .waitFor();
  await accessible(page);
  await detail(page).getByRole("button", { name: "Accept here" }).click();
  await page.getByText("Accepted").waitFor();
  await page.keyboard.press("j");
  await detail(page)
    .getByText(/The source of this chunk changed/u)
    .waitFor();
  await detail(page).getByRole("button", { name: "Use the edited text" }).click();
  await page.getByText("1 of 6 chunks shown").waitFor();
  await page.keyboard.press("j");
  await detail(page).getByRole("button", { name: "Use the text of the source" }).click();
  await page.getByText("0 of 6 chunks shown").waitFor();
  // Of those without a chunk one is applied to the chunk that is selected, the other discarded.
  const lost = page.getByRole("region", { name: "On no chunk" });
  await lost
    .getByRole("listitem")
    .filter({ hasText: "gone" })
    .getByRole("button", { name: /Apply to chunk/u })
    .click();
  await page.getByText("The change was applied").waitFor();
  await lost.getByRole("button", { name: "Discard" }).click();
  await page.getByText("Discarded").waitFor();
  const after = await overlaysOf("review");
  assert.deepEqual(
    after.map(({ state }) => state),
    after.map(() => "on"),
  );
  assert.deepEqual(after.map(({ text, keywords }) => text ?? keywords.join()).sort(), [
    "A text of mine.",
    "gone",
    "timetable",
  ]);
  await settled(page);
});

/** The panel in which the place of a split is chosen. */
const splitting = (page) => page.getByRole("form", { name: /^Split chunk/u });
const contents = async (collection) => (await chunksOf(collection)).map(({ content }) => content.trim());

test("a chunk is split at a line, the new chunk is selected, and it is undone", async () => {
  await put("split", guide([0, 1, 2]));
  const before = await chunksOf("split");
  const page = await workbench("split", "guide.md");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  const panel = splitting(page);
  // What is proposed is a place inside; the borders of the chunk are none.
  await panel.getByText("New chunk", { exact: true }).waitFor();
  const field = panel.getByRole("spinbutton", { name: "Before line" });
  assert.equal(await field.evaluate((input) => input === document.activeElement), true);
  await field.fill(String(before[1].start_line));
  await panel.getByText("Choose a place with text of this chunk on both sides.").waitFor();
  assert.equal(await panel.getByRole("button", { name: "Split" }).isDisabled(), true);
  await accessible(page);
  // A line of the source that is pressed is the place.
  await page.locator(".row.selected .line").last().click();
  await panel.getByText("New chunk", { exact: true }).waitFor();
  const line = Number(await field.inputValue());
  assert.ok(line > before[1].start_line && line <= before[1].end_line);
  await page.locator(".place.chosen").waitFor();
  await accessible(page);
  await panel.getByRole("button", { name: "Split" }).click();
  await page.getByText("Chunk 1 split").waitFor();
  await selectedCard(page).getByText("by hand").waitFor();
  await selectedCard(page).getByText("#2").waitFor();
  const after = await chunksOf("split");
  assert.equal(after.length, before.length + 1);
  assert.deepEqual([after[2].cut, after[2].start_line], ["manual", line]);
  // It says why it begins, and what was done by hand.
  await detail(page).getByRole("tab", { name: "Why here" }).click();
  await detail(page).getByText("Someone split a chunk here").waitFor();
  await detail(page)
    .getByRole("tab", { name: /By hand/u })
    .click();
  await detail(page).getByText("Split before").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText(`${before.length} chunks`, { exact: true }).first().waitFor();
  assert.deepEqual(
    (await chunksOf("split")).map(({ chunk_id }) => chunk_id),
    before.map(({ chunk_id }) => chunk_id),
  );
  assert.deepEqual(await overlaysOf("split"), []);
  // Opened and closed before the next frame.
  await page.evaluate(async () => {
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    press("s");
    while (!document.activeElement.closest("form")) await Promise.resolve();
    press("Escape");
  });
  await drawn(page);
  assert.equal(await panel.count(), 0);
  // By keys alone, and taken back where changes by hand are.
  await page.keyboard.press("s");
  await panel.getByText("New chunk", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.keyboard.press("s");
  await panel.getByText("New chunk", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await selectedCard(page).getByText("by hand").waitFor();
  await detail(page).getByRole("button", { name: "Take back" }).click();
  await page.getByText("Taken back").waitFor();
  assert.deepEqual(await overlaysOf("split"), []);
  await settled(page);
});

test("splitting a chunk that was changed by hand says what becomes of the change", async () => {
  await put("changed", guide([0, 1, 2]));
  const before = await chunksOf("changed");
  await call("PATCH", `/collections/changed/chunks/${before[1].chunk_id}`, { keywords: ["timetable"] });
  const page = await workbench("changed", "guide.md");
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  const panel = splitting(page);
  await panel.getByText("New chunk", { exact: true }).waitFor();
  assert.equal(await panel.getByText("This chunk was changed by hand.").count(), 0);
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  await panel.getByText("This chunk was changed by hand.").waitFor();
  await accessible(page);
  await panel.getByRole("button", { name: "Split" }).click();
  await page.getByText("Chunk 1 split").waitFor();
  const [, keywords] = [await chunksOf("changed"), (await overlaysOf("changed")).find(({ boundary }) => !boundary)];
  assert.deepEqual(keywords.keywords, ["timetable"]);
  assert.ok(["carried", "orphaned", "on"].includes(keywords.state), keywords.state);
  // What was not settled is there to be reviewed.
  if (keywords.state !== "on")
    await page
      .getByRole("button", { name: /review/iu })
      .first()
      .waitFor();
  await settled(page);
});

test("a chunk is split inside a line of Chinese, where text is selected", async () => {
  const sentence = (n) =>
    `第${n}班渡轮每天早上从港口出发，港务长把它记在厚厚的账本里。🍵村里人都知道账本放在炉子后面。`;
  const text = `# 渡轮\n\n${[1, 2, 3].map(sentence).join("")}`;
  await put("chinese", text);
  assert.equal((await chunksOf("chinese")).length, 1);
  const page = await workbench("chinese", "guide.md");
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  const panel = splitting(page);
  await panel.getByText("New chunk", { exact: true }).waitFor();
  // A text is selected in the source as by hand.
  await page.evaluate(() => {
    const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const at = node.parentElement.closest("[data-row] code") ? node.data.indexOf("第2班") : -1;
      if (at < 0) continue;
      getSelection().setBaseAndExtent(node, at, node, at + 3);
      node.parentElement.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return;
    }
  });
  await panel.getByText(/^第2班渡轮/u).waitFor();
  const character = Array.from(sentence(1)).length + 1;
  assert.equal(await panel.getByRole("spinbutton", { name: "character" }).inputValue(), String(character));
  await panel.getByRole("button", { name: "Split" }).click();
  await page.getByText("Chunk 0 split").waitFor();
  assert.deepEqual(await contents("chinese"), [`# 渡轮\n\n${sentence(1)}`, `${sentence(2)}${sentence(3)}`]);
  // The same by numbers, further on.
  await page.evaluate(() => getSelection().removeAllRanges());
  await page.keyboard.press("s");
  const field = panel.getByRole("spinbutton", { name: "character" });
  await field.fill(String(2 * character - 1));
  await field.press("Enter");
  await page.getByText("Chunk 1 split").waitFor();
  assert.deepEqual((await contents("chinese"))[2], sentence(3));
  await settled(page);
});

test("chunks are merged with those beside them, and a merge over the limit says why", async () => {
  await put(
    "merge",
    `${guide([0])}${section(1)}## Short\n\nOne line.\n\n## Shorter\n\nAnother line.\n\n${section(2)}${section(3)}`,
  );
  const before = await chunksOf("merge");
  const page = await workbench("merge", "guide.md", { expects: [/4(?:00|13)/u] });
  await page.keyboard.press("j");
  const menu = () => detail(page).getByRole("button", { name: "Split or merge" }).click();
  await menu();
  assert.equal(
    await page.getByRole("menuitem", { name: "Merge with the previous chunk (this is the first)" }).isDisabled(),
    true,
  );
  await accessible(page);
  await page.keyboard.press("Escape");
  // Merged by a key as long as it fits; then it is said why not.
  let left = before.length;
  const refused = detail(page).getByRole("alert");
  for (; left > 1; left -= 1) {
    await page.keyboard.press("m");
    await refused
      .or(page.getByText(`${left - 1} chunks`, { exact: true }))
      .first()
      .waitFor();
    if (await refused.count()) break;
  }
  assert.ok(left > 1 && left < before.length, `${left} of ${before.length}`);
  assert.match(await refused.innerText(), /256/u);
  assert.equal((await chunksOf("merge")).length, left);
  await accessible(page);
  const overlays = await overlaysOf("merge");
  assert.deepEqual(
    overlays.map(({ boundary }) => boundary.kind),
    overlays.map(() => "merge"),
  );
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page
    .getByText(`${left + 1} chunks`, { exact: true })
    .first()
    .waitFor();
  assert.equal((await overlaysOf("merge")).length, overlays.length - 1);
  await settled(page);
});

test("links, ids and texts are copied", async () => {
  const page = await workbench("examples", "en/parcel-api.md", { query: "?view=raw" });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.keyboard.press("j");
  await page.keyboard.press("y");
  await page.getByText("Link copied").waitFor();
  const link = await copied();
  assert.match(link, /\/c\/examples\/k\/[0-9a-f]{32}$/u);
  const item = async (name, said) => {
    await detail(page).getByRole("button", { name: "Copy" }).click();
    await page.getByRole("menuitem", { name }).click();
    await page.getByText(said).last().waitFor();
    return copied();
  };
  assert.equal(await item("Copy chunk id", "Id copied"), link.slice(-32));
  assert.match(await item("Copy text", "Text copied"), /^# Parcel Desk HTTP API/u);
  await page.goto(link);
  await page.locator(".row.selected .number").getByText("#0").waitFor();
  await settled(page);
});

test("documents beside it and about the same are a press away", async () => {
  run([
    "index",
    server.write("alike", {
      "a/harbour.md": guide([0, 1]),
      "a/boats.md": guide([1, 2]),
      "a/bread.md": "# Bread\n\nFlour, water and salt.\n",
    }),
    "--collection",
    "alike",
    "--store",
    server.store,
    "--embedder",
    "static",
    "--quiet",
  ]);
  const page = await workbench("alike", "a/boats.md");
  await page.getByRole("tab", { name: "Documents" }).click();
  await page.getByRole("heading", { name: "In a" }).waitFor();
  await page.getByRole("heading", { name: "About the same" }).waitFor();
  await page.getByRole("link", { name: "a/harbour.md" }).first().waitFor();
  await accessible(page);
  await page.keyboard.press("]");
  await page.waitForURL(/\/d\/a\/bread\.md/u);
  await page.getByText("bread.md").first().waitFor();
  await page.getByRole("tab", { name: "Documents" }).click();
  await page.getByRole("link", { name: "harbour.md", exact: true }).click();
  await page.waitForURL(/\/d\/a\/harbour\.md/u);
  await settled(page);
});

test("a narrow page shows one panel at a time", async () => {
  const page = await workbench("examples", "en/parcel-api.md", { width: 600 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await page.locator(".row.first .cut").first().click();
  await page.getByRole("button", { name: "Selected chunk" }).click();
  await page.waitForURL(/panel=chunks/u);
  await detail(page).waitFor();
  await accessible(page);
  await page.getByRole("tab", { name: "Outline" }).first().click();
  await page.getByRole("treeitem", { name: "Retrying well" }).click();
  await page.waitForURL(/panel=source/u);
  await page
    .getByRole("region", { name: /Source/u })
    .getByText("### Retrying well")
    .waitFor();
  await settled(page);
});

test("text of documents that wants to run stays text", async () => {
  for (const doc_id of ["hostile.md", "<b onclick=hacked>.md", "code.js"]) {
    const page = await workbench("hostile", doc_id);
    for (const view of ["Rendered", "Raw", "Embedded", "Why here", "By hand", "Details"]) {
      if (view === "Rendered") await page.keyboard.press("j");
      const tab = detail(page).getByRole("tab", { name: view });
      if (await tab.count()) await tab.click();
      await drawn(page);
    }
    await page.keyboard.press("e");
    await page.getByRole("dialog").getByRole("button", { name: "Show differences" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Documents" }).click();
    assert.equal(
      await page
        .locator("main :is(script, iframe, base, math, [onclick], [onerror], [onload], a[href^=javascript])")
        .count(),
      0,
    );
    if (doc_id === "hostile.md") assert.ok((await page.locator(".unseen").count()) > 0);
    await settled(page);
  }
});

test("keys move through a file of 10,000 lines, and its last line is reached", async () => {
  const page = await workbench("long", "long.md");
  await page.locator(".row.first .cut").first().waitFor();
  const count = (await call("GET", "/collections/long")).chunks;
  for (let n = 0; n < 5; n += 1) await page.keyboard.press("j");
  await selectedCard(page).getByText("#4", { exact: true }).first().waitFor();
  await grid(page).focus();
  await page.keyboard.press("End");
  await selectedCard(page)
    .getByText(`#${count - 1}`, { exact: true })
    .first()
    .waitFor();
  await page.getByRole("region", { name: "Source: long.md" }).getByText("Line 9999 of the long file").waitFor();
  await settled(page);
});

test("the end of a file that is asked for before it is there is reached when it is, unless one went on", async () => {
  const count = (await call("GET", "/collections/long")).chunks;
  for (const goesOn of [false, true]) {
    const page = await open(`${server.url}/no/such/place`);
    let arrive;
    const isThere = new Promise((resolve) => (arrive = resolve));
    await page.route(/\/chunks\?.*cursor=/u, (route) => isThere.then(() => route.continue()));
    await page.goto(address("long", "long.md"));
    await grid(page).focus();
    await page.keyboard.press("End");
    // It has its place already.
    await page.locator(`[role="row"][aria-selected="true"][aria-busy="true"][aria-rowindex="${count}"]`).waitFor();
    if (goesOn) await page.keyboard.press("ArrowUp");
    arrive();
    await page
      .getByText(`${count.toLocaleString("en-US")} chunks`)
      .first()
      .waitFor();
    await selectedCard(page)
      .getByText(goesOn ? `#${count - 2}` : `#${count - 1}`, { exact: true })
      .first()
      .waitFor();
    if (!goesOn)
      await page.getByRole("region", { name: "Source: long.md" }).getByText("Line 9999 of the long file").waitFor();
    await settled(page);
  }
});

test("the first chunk that is chosen far down the list stays in sight, and the list keeps the focus", async () => {
  const page = await workbench("long", "long.md");
  const isInSight = (card) =>
    card.evaluate((card) => {
      const [row, list] = [card, card.closest("[role=grid]")].map((element) => element.getBoundingClientRect());
      return row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
    });
  await grid(page).evaluate((list) => (list.scrollTop = list.scrollHeight / 2));
  await drawn(page);
  // The lowest that is seen whole: details take its place.
  const rows = await grid(page).getByRole("row").all();
  const seen = [];
  for (const row of rows) if (await isInSight(row)) seen.push(await row.getAttribute("aria-rowindex"));
  await grid(page)
    .locator(`[aria-rowindex="${seen.at(-1)}"]`)
    .click();
  await detail(page).waitFor();
  for (let frames = 0; frames < 100 && !(await isInSight(selectedCard(page))); frames += 1) await drawn(page);
  assert.ok(await isInSight(selectedCard(page)));
  assert.equal(await selectedCard(page).getAttribute("aria-rowindex"), seen.at(-1));
  await page.keyboard.press("Escape");
  await grid(page).focus();
  await page.keyboard.press("PageDown");
  await detail(page).waitFor();
  await page.keyboard.press("ArrowDown");
  await selectedCard(page).waitFor();
  assert.ok(await grid(page).evaluate((list) => list === document.activeElement));
  await settled(page);
});

/**
 * Answers a page as if a document of one chunk had many, each a record of its number. Whoever tests the page need not index them, nor have a
 * server and a browser hand them on: the page gets what the server says of the one chunk, at other places.
 */
async function pretend(page, collection, count) {
  const [one] = await chunksOf(collection);
  await page.addInitScript(
    ({ one, count }) => {
      const texts = Array.from(
        { length: count },
        (_, at) => `## Record ${at}\n\nA short text of record number ${at}.\n\n`,
      );
      const starts = [0];
      for (const text of texts) starts.push(starts.at(-1) + text.length);
      const chunkOf = (_, at) => {
        const [content, start, end] = [texts[at].trimEnd(), starts[at], starts[at + 1]];
        const ids = { chunk_id: at.toString(16).padStart(32, "0"), chunk_index: at, total_chunks: count };
        const span = { start_char: start, end_char: end, start_byte: start, end_byte: end };
        return { ...one, ...ids, ...span, content, text: content, start_line: 4 * at + 1, end_line: 4 * at + 4 };
      };
      const { fetch } = window;
      window.fetch = async (request) => {
        const { pathname, searchParams } = new URL(request.url);
        if (pathname.endsWith("/source")) return new Response(texts.join(""));
        if (!pathname.endsWith("/chunks")) return fetch(request);
        const from = Number(searchParams.get("cursor") ?? 0);
        const to = Math.min(count, from + Number(searchParams.get("limit")));
        const chunks = Array.from({ length: to - from }, (_, at) => chunkOf(_, from + at));
        return Response.json({ chunks, next: to < count ? String(to) : null });
      };
    },
    { one, count },
  );
}

test("a hundred thousand chunks scroll without gaps, and the last is found", async () => {
  await put("many", "## Record 0\n\nA short text of record number 0.\n", "many.md");
  const page = await open(`${server.url}/health`);
  await pretend(page, "many", 100_000);
  await page.goto(address("many", "many.md"));
  // The first are there long before the last.
  await page.locator('[role="row"]').first().waitFor();
  await page.getByText("100,000 chunks").first().waitFor();
  for (const role of ["grid", "region"]) {
    const { gaps, rows } = await page.evaluate(async (role) => {
      const list = document.querySelector(`main [role=${role}][tabindex]`);
      const out = { gaps: 0, rows: 0 };
      // Some steps of a wheel, then the whole length in a few.
      for (const by of [...Array(60).fill(120), ...Array(30).fill(list.scrollHeight / 30)]) {
        list.scrollTop += by;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const box = list.getBoundingClientRect();
        if (!document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.closest("[data-row]"))
          out.gaps += 1;
        out.rows = Math.max(out.rows, list.querySelectorAll("[data-row]").length);
      }
      return out;
    }, role);
    assert.equal(gaps, 0, role);
    assert.ok(rows < 200, `${rows} rows are in the ${role}`);
  }
  // The last chunk is found by its number and by a link.
  await page.keyboard.press("/");
  await page.keyboard.type("#99999");
  await page.getByText("1 of 100,000 chunks shown").waitFor();
  await page.getByText("Record 99999").first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".row.selected").first().waitFor();
  await page.waitForURL(/chunk=/u);
  await page.reload();
  await page.locator(".row.selected").getByText("Record 99999").first().waitFor();
  // A number and a line lead there, by keys and by the address.
  for (const [typed, chunk, written] of [
    ["50000", "Record 50000", /chunk=0*c350(?:&|$)/u],
    [":280001", "Record 70000", /lines=280001(?:&|$)/u],
  ]) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.keyboard.type(typed);
    await page.keyboard.press("Enter");
    await page.locator(".row.selected").getByText(chunk, { exact: false }).first().waitFor();
    await page.waitForURL(written);
    await page.getByRole("row", { selected: true }).getByText(chunk).first().waitFor();
    await page.reload();
    await page.locator(".row.selected").getByText(chunk).first().waitFor();
  }
  await settled(page);
});
