// One collection: its overview, its chunks, documents, edits by hand, versions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, drawn, HOSTILE, open, serve, settled } from "./helper.mjs";

const api = async (path, { method = "GET", body } = {}) => {
  const answer = await fetch(`${server.api}/api/v1/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${text}`);
  return text ? JSON.parse(text) : null;
};
const put = (collection, documents, settings) =>
  api(`collections/${collection}/documents`, {
    method: "POST",
    body: { documents: documents.map(([doc_id, text]) => ({ doc_id, text })), ...(settings && { settings }) },
  });
const chunksOf = async (collection, query = "") =>
  (await api(`collections/${collection}/chunks?limit=1000${query}`)).chunks;
const amend = (collection, body) => api(`collections/${collection}/chunks/amend`, { method: "POST", body });
const finished = async (id) => {
  for (;;) {
    const job = await api(`jobs/${id}`);
    if (!["queued", "running"].includes(job.state)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const words = (n, seed) =>
  Array.from(
    { length: n },
    (_, at) =>
      ["amber", "basket", "copper", "drift", "ember", "fable", "gravel", "harbor"][(at * seed + (at >> 2)) % 8],
  ).join(" ");
const PAGE = (first) =>
  `# Ferry\n\n${first} ${words(60, 3)}.\n\n## Times\n\nIt leaves at nine and at noon. ${words(70, 5)}.\n\n## Prices\n\nA ticket costs four coins. ${words(70, 7)}.\n`;

let server;
before(async () => {
  server = await serve({ flags: ["--embedder", "none"] });
  await put("plan", [
    ["guide.md", PAGE("The boat is green.")],
    ["data/numbers.json", JSON.stringify({ values: Array.from({ length: 2_000 }, (_, at) => at) })],
    ["empty.md", ""],
  ]);
});
after(async () => {
  await close();
  await server?.stop();
});

for (const [width, scheme] of [
  [1400, "light"],
  [600, "dark"],
]) {
  test(`the overview shows what a collection is at ${width} pixels`, async () => {
    const page = await open(`${server.url}/c/examples`, { width, scheme });
    await page.getByRole("heading", { name: "Token distribution" }).waitFor();
    await page.getByText("limit 256").waitFor();
    await page.getByText("of the chunks are in this band").waitFor();
    await page.getByText(/^Nothing found:/u).waitFor();
    await page.getByRole("button", { name: "paragraph" }).waitFor();
    await page.getByText(/^All [\d,]+ lines with text are in chunks\.$/u).waitFor();
    await page
      .getByRole("region", { name: "Chunks by cut" })
      .getByRole("button", { name: "heading", exact: true })
      .waitFor();
    assert.match(await page.locator(".figures").innerText(), /22[\s\S]*193[\s\S]*tree-v/u);
    await accessible(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await settled(page);
  });
}

test("brushing the distribution chooses sizes, and shows their chunks", async () => {
  const page = await open(`${server.url}/c/examples`);
  await page.getByText("limit 256").waitFor();
  const bars = await page.locator(".bin").all();
  const [first, last] = [await bars[4].boundingBox(), await bars[6].boundingBox()];
  await page.mouse.move(first.x + 4, first.y + 60);
  await page.mouse.down();
  await page.mouse.move(last.x + 4, last.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=64&to=111/u);
  const all = await chunksOf("examples");
  const some = all.filter(({ token_count: n }) => n >= 64 && n <= 111);
  await page
    .getByRole("status")
    .filter({ hasText: `${some.length} chunks` })
    .waitFor();
  await page.getByRole("button", { name: "Show these chunks" }).click();
  await page.waitForURL(/view=chunks/u);
  await page.getByText(`${some.length} chunks`, { exact: true }).waitFor();
  assert.equal(await page.getByRole("grid").getAttribute("aria-rowcount"), String(some.length));
  // By keys as well: from the greatest bar downwards.
  await page.getByRole("slider", { name: "Least size shown" }).press("Home");
  await page.waitForURL((url) => !url.searchParams.has("from"));
  await page.getByText(`${all.filter(({ token_count: n }) => n <= 111).length} chunks`, { exact: true }).waitFor();
  await settled(page);
});

test("the band is what one wants it to be", async () => {
  const page = await open(`${server.url}/c/examples?band=100-200`);
  const all = await chunksOf("examples");
  const share = (from, to) =>
    new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }).format(
      all.filter(({ token_count: n }) => n >= from && n <= to).length / all.length,
    );
  await page.getByText(share(100, 200), { exact: true }).first().waitFor();
  await page.getByLabel("Greatest number of tokens wanted").fill("150");
  await page.getByLabel("Greatest number of tokens wanted").press("Enter");
  await page.waitForURL(/band=100-150/u);
  await page.getByText(share(100, 150), { exact: true }).first().waitFor();
  await page.getByLabel("Greatest number of tokens wanted").fill("50");
  await page.getByLabel("Greatest number of tokens wanted").press("Enter");
  await page.getByText("must not be greater").waitFor();
  await settled(page);
});

test("smells are counted, and lead to their chunks", async () => {
  const page = await open(`${server.url}/c/plan`);
  await page.getByRole("button", { name: /Mostly \*\.json files/u }).waitFor();
  await page.getByRole("button", { name: /Documents without text\s*.*1/su }).waitFor();
  await page.getByRole("button", { name: /Mostly \*\.json files/u }).click();
  await page.waitForURL(/view=chunks/u);
  assert.equal(await page.getByLabel("Filter expression").inputValue(), "doc_id~**/*.json");
  const chunks = (await chunksOf("plan")).filter(({ doc_id }) => doc_id.endsWith(".json"));
  await page.getByText(`${chunks.length} chunks`, { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: /Mostly \*\.json files/u }).waitFor();
  await settled(page);
});

test("text that several chunks have is counted, and leads to them; chunks are chosen by their cut", async () => {
  await put("twice", [
    ["a.md", PAGE("One.")],
    ["b/copy.md", PAGE("One.")],
    ["c.md", PAGE("Another.")],
  ]);
  const page = await open(`${server.url}/c/twice`);
  const all = await chunksOf("twice");
  const copies = all.filter(({ text }) => all.filter((other) => other.text === text).length > 1);
  assert.ok(copies.length > 1 && copies.length < all.length);
  await page.getByRole("button", { name: new RegExp(`Repeated text.*${copies.length}`, "su") }).click();
  await page.waitForURL(/view=chunks/u);
  await page.getByText(`${copies.length} chunks`, { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("region", { name: "Chunks by cut" }).getByRole("button").first().click();
  await page.waitForURL(/filter=cut/u);
  const cut = await page.getByLabel("Filter expression").inputValue();
  const by = all.filter((chunk) => cut === `cut="${chunk.cut}"`);
  assert.ok(by.length > 0, cut);
  await page.getByText(by.length === 1 ? "1 chunk" : `${by.length} chunks`, { exact: true }).waitFor();
  await settled(page);
});

test("chunks are filtered and ordered", async () => {
  const page = await open(`${server.url}/c/examples?view=chunks`);
  const all = await chunksOf("examples");
  await page.getByText(`${all.length} chunks`, { exact: true }).waitFor();
  await page.getByLabel("Kind of block").selectOption("table");
  await page
    .getByText(`${all.filter(({ content_type }) => content_type === "table").length} chunks`, { exact: true })
    .waitFor();
  await page.getByLabel("Kind of block").selectOption("");
  await page.getByLabel("Document or pattern").fill("zh/");
  const chinese = all.filter(({ doc_id }) => doc_id.includes("zh/"));
  await page.getByText(`${chinese.length} chunks`, { exact: true }).waitFor();
  await page.getByLabel("Order").selectOption("longest");
  const longest = chinese.toSorted((a, b) => b.token_count - a.token_count)[0];
  await page.getByRole("row").first().getByText(`${longest.token_count} tokens`).waitFor();
  await page.getByLabel("Filter expression").fill("token_count<100");
  await page.getByLabel("Filter expression").press("Enter");
  await page.waitForURL(/filter=token_count%3C100/u);
  await page
    .getByText(`${chinese.filter(({ token_count }) => token_count < 100).length} chunks`, { exact: true })
    .waitFor();
  await page.reload();
  await page
    .getByText(`${chinese.filter(({ token_count }) => token_count < 100).length} chunks`, { exact: true })
    .waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText(`${all.length} chunks`, { exact: true }).waitFor();
  await accessible(page);
  await settled(page);
});

test("a wrong filter says what would be right", async () => {
  const page = await open(`${server.url}/c/examples?view=chunks&filter=tokens%3C3`, { expects: [/400/u] });
  await page
    .getByRole("alert")
    .getByText(/unknown field `tokens`/u)
    .waitFor();
  await settled(page);
});

test("thousands of chunks come as one scrolls", async () => {
  await put(
    "many",
    Array.from({ length: 500 }, (_, at) => [
      `notes/${String(at).padStart(3, "0")}.md`,
      `# Note ${at}\n\n${words(20, (at % 7) + 1)} ${at}.\n`,
    ]),
  );
  const page = await open(`${server.url}/c/many?view=chunks`);
  await page.getByText("500 chunks", { exact: true }).waitFor();
  const grid = page.getByRole("grid");
  for (const share of [0.5, 1]) {
    await grid.evaluate((list, share) => (list.scrollTop = share * list.scrollHeight), share);
    await page.waitForFunction(() => {
      const list = document.querySelector("[role=grid]");
      return list.scrollTop > 1000 && !list.querySelector("[aria-busy=true]");
    });
  }
  await page.getByText("notes/499.md").waitFor();
  assert.ok((await page.getByRole("row").count()) < 60);
  await settled(page);
});

test("a chosen chunk shows its text in all forms, and text of documents stays text", async () => {
  const page = await open(`${server.url}/c/hostile?view=chunks`);
  await page.getByRole("row").first().click();
  const detail = page.getByRole("complementary", { name: "Chosen chunk" });
  for (const name of ["Rendered", "Embedded", "Raw"]) {
    await detail.getByRole("tab", { name }).click();
    await drawn(page);
  }
  assert.ok((await detail.locator("pre").innerText()).includes(HOSTILE.split("\n")[0].slice(0, 30)));
  await accessible(page);
  await page.keyboard.press("Escape");
  await detail.waitFor({ state: "detached" });
  await settled(page);
});

test("chunks are disabled and enabled, one, several and all that match", async () => {
  const page = await open(`${server.url}/c/plan?view=chunks&document=guide`);
  const disabled = async () => (await chunksOf("plan", "&visibility=disabled")).length;
  const all = (await chunksOf("plan")).filter(({ doc_id }) => doc_id === "guide.md").length;
  assert.ok(all >= 3);
  await page.getByRole("checkbox", { name: "Mark chunk 0" }).click();
  await page.getByRole("checkbox", { name: "Mark chunk 1" }).click();
  await page.getByText("2 chunks marked").waitFor();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("2 chunks disabled.").waitFor();
  assert.equal(await disabled(), 2);
  await page.getByRole("row").first().getByText("disabled").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 chunks enabled.").waitFor();
  assert.equal(await disabled(), 0);
  // One, by its key.
  await page.getByRole("row").nth(1).click();
  await page.keyboard.press("e");
  await page.getByText("1 chunk disabled.").waitFor();
  assert.equal(await disabled(), 1);
  await page.getByRole("complementary").getByRole("button", { name: "Enable" }).click();
  await page.getByText("1 chunk enabled.").waitFor();
  // All that match.
  await page.getByRole("button", { name: "Several" }).click();
  await page.getByRole("menuitem", { name: "Disable all that match" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`Searches will no longer find ${all} chunks of 1 document.`).waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Disable" }).click();
  await page.getByText(`${all} chunks disabled.`).first().waitFor();
  assert.equal(await disabled(), all);
  await page.getByLabel("Enabled or disabled").selectOption("disabled");
  await page.getByText(`${all} chunks`, { exact: true }).waitFor();
  await amend("plan", { filter: "start_line>=1", enabled: true, reset: true });
  await settled(page);
});

test("documents are deleted: one, those marked, those that match a pattern", async () => {
  await put(
    "bin",
    ['with "quotes".md'].map((name) => [name, `# ${name}\n\nText of ${name}.\n`]),
  );
  const quoted = await open(`${server.url}/c/bin?view=documents`);
  await quoted.getByRole("button", { name: /^Show the chunks of/u }).click();
  await quoted.getByText("1 chunk", { exact: true }).waitFor();
  await settled(quoted);
  await api("collections/bin/documents?source=**", { method: "DELETE" });
  await put(
    "bin",
    ["a.md", "b.md", "c.md", "old/d.md", "old/e.md", "keep.md"].map((name) => [
      name,
      `# ${name}\n\nText of ${name}.\n`,
    ]),
  );
  const page = await open(`${server.url}/c/bin?view=documents`);
  const left = async () => (await api("collections/bin/documents")).documents.map(({ doc_id }) => doc_id).join();
  const confirm = async (text) => {
    await page.getByRole("dialog").getByText(text).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await page.getByRole("button", { name: "Delete a.md" }).click();
  await confirm(/a\.md with 1 chunk will be removed/u);
  await page.getByText("5 documents", { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Mark b.md" }).check();
  await page.getByRole("checkbox", { name: "Mark c.md" }).check();
  await accessible(page);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await confirm(/2 documents with 2 chunks/u);
  await page.getByText("3 documents", { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("old/**");
  await page.getByText("2 documents", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete all that match" }).click();
  await confirm(/2 documents with 2 chunks/u);
  await page.getByText("No document matches this pattern.").waitFor();
  assert.equal(await left(), "keep.md");
  await settled(page);
});

test("edits that were carried, are in conflict or lost their chunk are listed, accepted and taken back", async () => {
  await put("edits", [["ferry.md", PAGE("The boat is green.")]]);
  const [first, second, third] = await chunksOf("edits");
  await amend("edits", { chunks: [first.chunk_id], keywords: ["vessel"], pins: ["green boat"] });
  await amend("edits", {
    chunks: [second.chunk_id],
    text: `Times of the ferry: ${second.text.slice(0, 200)} <script>window.hacked=31</script>`,
  });
  await amend("edits", { chunks: [third.chunk_id], enabled: false });
  await put("edits", [
    [
      "ferry.md",
      PAGE("The boat is blue.")
        .replace("at nine and at noon", "at ten and at noon")
        .replace(/## Prices[\s\S]*/u, ""),
    ],
  ]);
  const { overlays } = await api("collections/edits/overlays?review=true");
  assert.deepEqual(overlays.map(({ state }) => state).sort(), ["carried", "conflict", "orphaned"]);

  const page = await open(`${server.url}/c/edits`);
  await page.getByText("3 edits by hand need a review").waitFor();
  await page.getByText("1 is in conflict: the source of the edited text changed.").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Review edits" }).click();
  await page.waitForURL(/view=changes/u);
  const of = (state) => page.getByRole("article").filter({ has: page.getByText(state, { exact: true }) });
  await of("conflict").locator("del, ins").first().waitFor();
  await accessible(page);
  await of("carried").getByRole("button", { name: "Accept" }).click();
  await page.getByText("1 edit accepted.").waitFor();
  await of("carried").waitFor({ state: "detached" });
  await of("conflict").getByRole("button", { name: "Keep my text" }).click();
  await of("conflict").waitFor({ state: "detached" });
  await of("orphaned").getByRole("button", { name: "Discard" }).click();
  await page.getByText("Nothing to review").waitFor();
  const after = (await api("collections/edits/overlays")).overlays;
  assert.deepEqual(
    after.map(({ state }) => state),
    ["on", "on"],
  );
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForURL(/changes=all/u);
  await page.waitForFunction(() => document.querySelectorAll("article").length === 2);
  await page.getByRole("article").first().getByRole("button", { name: "Reset" }).click();
  await page.waitForFunction(() => document.querySelectorAll("article").length === 1);
  assert.equal((await api("collections/edits/overlays")).overlays.length, 1);
  await settled(page);
});

test("boundaries set by hand are listed in words, lead to their place, are accepted and taken back", async () => {
  const hostile = '<img src=x onerror="window.hacked=41"> <script>window.hacked=42</script>';
  const text = (first, rest = "") =>
    `# Ferry\n\n${first} ${hostile}\n\n${hostile} The boat leaves at nine and at noon. ${words(40, 3)}.\n\nThe harbour is closed in winter. ${words(30, 5)}.${rest}\n`;
  await put("borders", [["ferry.md", text("The boat is green.")]]);
  const split = async (begin) => {
    const chunks = await chunksOf("borders");
    const at = Buffer.from(text("The boat is green.")).indexOf(begin);
    const chunk = chunks.find(({ start_byte, end_byte }) => start_byte < at && at < end_byte);
    return api(`collections/borders/chunks/${chunk.chunk_id}/split`, { method: "POST", body: { byte: at } });
  };
  await split(`${hostile} The boat leaves`);
  await split("The harbour is closed");
  await put("borders", [
    [
      "ferry.md",
      text("The boat is now painted blue and white, and so are all of the ropes, sails and oars. It is new.")
        .replace("closed in winter", "open all year")
        .replace("The boat leaves", "It leaves"),
    ],
  ]);
  const { overlays } = await api("collections/borders/overlays");
  assert.deepEqual(
    overlays.map(({ boundary }) => boundary.kind),
    ["split", "split"],
  );
  const review = overlays.filter(({ state }) => state !== "on").length;
  assert.ok(review > 0);

  const page = await open(`${server.url}/c/borders`);
  await page
    .getByText(review === 1 ? "1 edit by hand needs a review" : `${review} edits by hand need a review`)
    .waitFor();
  await page.getByRole("button", { name: "Review edits" }).click();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForURL(/changes=all/u);
  await page.getByText("Split before").nth(1).waitFor();
  assert.equal(
    (await page
      .getByRole("article")
      .getByText(/onerror="window\.hacked=41"/u)
      .count()) > 0,
    true,
  );
  assert.equal(await page.locator("main :is(script, img)").count(), 0);
  await accessible(page);
  const carried = page.getByRole("article").filter({ has: page.getByText("carried", { exact: true }) });
  for (let left = overlays.filter(({ state }) => state === "carried").length; left > 0; left -= 1) {
    await carried
      .nth(left - 1)
      .getByRole("button", { name: "Accept" })
      .click();
    await carried.nth(left - 1).waitFor({ state: "detached" });
  }
  // To its place in the document.
  await page.getByRole("article").first().getByRole("link").click();
  await page.locator(".row.selected").first().waitFor();
  assert.match(await page.locator('[role="row"][aria-selected="true"]').innerText(), /by hand/u);
  await page.goBack();
  for (let left = overlays.length; left > 0; left -= 1) {
    await page
      .getByRole("article")
      .nth(left - 1)
      .waitFor();
    await page
      .getByRole("article")
      .first()
      .getByRole("button", { name: /Reset|Discard/u })
      .click();
    await page
      .getByRole("article")
      .nth(left - 1)
      .waitFor({ state: "detached" });
  }
  await page.getByText("No edits by hand").waitFor();
  assert.deepEqual((await api("collections/borders/overlays")).overlays, []);
  assert.ok((await chunksOf("borders")).every(({ cut }) => cut !== "manual"));
  await settled(page);
});

test("settings that are planned are announced, reviewed, and done as a job; old generations are pruned", async () => {
  await put("shift", [
    ["ferry.md", PAGE("The boat is green.")],
    ["zh.md", "# 渡轮\n\n渡轮九点出发。\n"],
  ]);
  await api("collections/shift/configuration", { method: "PUT", body: { settings: { preset: "course" } } });
  const page = await open(`${server.url}/c/shift`);
  await page.getByText(/settings will be others the next time/u).waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Review and migrate" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("What becomes of the chunks").waitFor();
  await dialog.getByText(/before, .* after/u).waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Cut again" }).click();
  await dialog.getByText("The collection is cut anew.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText(/chunks of other generations are kept/u).waitFor();
  await page.getByText(/settings will be others/u).waitFor({ state: "detached" });
  assert.match((await api("collections/shift")).strategy_version, /^sections-/u);
  await page.getByRole("button", { name: "Show versions" }).click();
  await page.getByRole("button", { name: "Prune 1 old" }).click();
  await page
    .getByRole("dialog")
    .getByText(/1 generation with 2 documents/u)
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Prune" }).click();
  await page.getByText("1 generation pruned.").waitFor();
  await accessible(page);
  assert.equal((await api("collections/shift/versions")).generations.length, 1);
  await settled(page);
});

test("chunks of an older version of the strategy are announced, and can be cut by the newer", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "examples" }).waitFor();
  await page.route(/\/api\/v1\/registries/u, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace(/"tree-v[\d.]+"/u, '"tree-v9.9"') });
  });
  await page.getByRole("link", { name: "examples" }).click();
  const banner = page.getByRole("region", { name: /chunks were made by tree-v/u });
  await banner.getByText("This program has tree-v9.9").waitFor();
  await accessible(page);
  await banner.getByRole("button", { name: "Review and migrate" }).click();
  await page.getByRole("dialog").getByText("Every chunk stays as it is.").waitFor();
  await settled(page);
});

test("one generation is pruned alone, and a preset is chosen for the next", async () => {
  const page = await open(`${server.url}/c/shift?view=versions`);
  await page.getByRole("button", { name: "Cut again" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Settings").selectOption("recursive");
  await dialog.getByText(/before, .* after/u).waitFor();
  await dialog.getByRole("button", { name: "Cut again" }).click();
  await dialog.getByText("The collection is cut anew.").waitFor();
  await page.keyboard.press("Escape");
  const old = (await api("collections/shift/versions")).generations.find(({ state }) => state === "old");
  await page.getByRole("button", { name: `Prune generation ${old.generation}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Prune" }).click();
  await page.getByText("1 generation pruned.").waitFor();
  assert.match((await api("collections/shift")).strategy_version, /^recursive-/u);
  await settled(page);
});

test("a collection that was cut elsewhere says so, and can be cut again all the same", async () => {
  server.into("foreign", server.write("foreign", { "a.md": PAGE("The boat is red.") }), "--max-size", "300");
  const page = await open(`${server.url}/c/foreign`);
  await page.getByText("does not know by which settings this collection was cut").waitFor();
  await page.getByRole("button", { name: "Cut again" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/before, .* after/u).waitFor();
  await dialog.getByRole("button", { name: "Cut again" }).click();
  await dialog.getByText("The collection is cut anew.").waitFor();
  assert.match((await api("collections/foreign")).strategy_version, /^tree-/u);
  await settled(page);
});

test("a job that another client began is seen, and what it did is shown", async () => {
  const page = await open(`${server.url}/c/plan`);
  await page.getByText("limit 256").waitFor();
  const job = await api("jobs", {
    method: "POST",
    body: { kind: "reindex", collection: "plan", settings: { preset: "course" } },
  });
  assert.equal((await finished(job.id)).state, "succeeded");
  await page.reload();
  await page
    .locator(".figures")
    .getByText(/^sections-/u)
    .waitFor();
  await settled(page);
});

test("a collection is renamed and keeps what it has, and a name that is taken is refused", async () => {
  await put("before", [["a.md", "# A\n\nText.\n"]]);
  await put("taken", [["a.md", "# A\n\nText.\n"]]);
  const page = await open(`${server.url}/c/before`, { expects: [/409/u] });
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const dialog = page.getByRole("dialog");
  const button = dialog.getByRole("button", { name: "Rename" });
  assert.equal(await button.isDisabled(), true);
  await accessible(page);
  await dialog.getByRole("textbox").fill("taken");
  await button.click();
  await dialog.getByText(/there is a collection `taken` already/u).waitFor();
  await dialog.getByRole("textbox").fill("章节");
  await button.click();
  await page.getByText("before is now 章节.").waitFor();
  await page.getByRole("heading", { level: 1, name: "章节" }).waitFor();
  const names = (await api("collections")).collections.map(({ collection }) => collection);
  assert.equal(names.includes("章节"), true);
  assert.equal(names.includes("before"), false);
  await settled(page);
});

test("a collection is deleted only when its name is typed", async () => {
  await put("gone", [["a.md", "# A\n\nText.\n"]]);
  const page = await open(`${server.url}/c/gone`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete collection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 document and 1 chunk of all generations are removed").waitFor();
  const button = dialog.getByRole("button", { name: "Delete collection" });
  assert.equal(await button.isDisabled(), true);
  await accessible(page);
  await dialog.getByRole("textbox").fill("gon");
  assert.equal(await button.isDisabled(), true);
  await dialog.getByRole("textbox").fill("gone");
  await button.click();
  await page.getByRole("heading", { level: 1, name: "Collections" }).waitFor();
  await page.getByText("gone is deleted.").waitFor();
  assert.equal(
    (await api("collections")).collections.some(({ collection }) => collection === "gone"),
    false,
  );
  await settled(page);
});

test("an unknown collection is a problem that says so", async () => {
  const page = await open(`${server.url}/c/nothing`, { expects: [/404/u] });
  await page
    .getByRole("alert")
    .getByText(/unknown collection `nothing`/u)
    .waitFor();
  await settled(page);
});

test("views have keys, and the overview speaks Chinese and Russian", async () => {
  const page = await open(`${server.url}/c/examples`);
  await page.getByText("limit 256").waitFor();
  for (const [key, view] of [
    ["2", "chunks"],
    ["3", "documents"],
    ["4", "changes"],
    ["5", "versions"],
  ]) {
    await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`view=${view}`, "u"));
  }
  await page.keyboard.press("1");
  await page.waitForURL((url) => !url.searchParams.has("view"));
  await settled(page);
  for (const [locale, title] of [
    ["zh-CN", "token 分布"],
    ["ru-RU", "Распределение токенов"],
  ]) {
    const other = await open(`${server.url}/c/examples`, { locale, width: 600 });
    await other.getByRole("heading", { name: title }).waitFor();
    assert.equal(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await settled(other);
  }
});
