// The search playground: hits with their stages, why a chunk is missing, two configurations, what an agent is given, test questions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, drawn, open, serve, settled } from "./helper.mjs";

let server;
let old;
before(async () => {
  server = await serve({
    collections: ["examples", "hostile", "vectors"],
    env: { CHUNKWRIGHT_EMBEDDER: "static" },
  });
  const { generations } = await (await fetch(`${server.api}/api/v1/collections/vectors/versions`)).json();
  old = generations.find(({ state }) => state === "old").generation;
});
after(async () => {
  await close();
  await server?.stop();
});

const visit = (path, options) => open(`${server.url}${path}`, { ...options, expects: [/404|400|422|503/u] });

const cards = (page) => page.locator("[data-entry]");
const selected = (page) => page.locator("[data-entry][aria-current=true]");
const api = async (path, body) =>
  (
    await fetch(`${server.api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

for (const [locale, query, place, words] of [
  ["en-US", "how do I repeat a request safely", /en\/parcel-api\.md:74/u, ["Repeating", "request"]],
  ["zh-CN", "馒头蒸好揭盖以后为什么会塌", /zh\/steamed-bread\.md:53/u, ["馒头", "揭盖"]],
  ["ru-RU", "как разжечь печь", /ru\/stove\.md/u, ["печь"]],
]) {
  test(`a question in ${locale} finds its answer, with what matched and what each stage thought`, async () => {
    const page = await visit(`/search?c=vectors`, { locale });
    const box = page.getByRole("searchbox").first();
    await box.waitFor();
    await page.keyboard.press("/");
    assert.equal(await box.evaluate((field) => field === document.activeElement), true);
    await page.keyboard.type(query);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === query);
    const first = cards(page).first();
    await first.getByText(place).first().waitFor();
    const marks = await page.locator("[data-entry] mark").allInnerTexts();
    for (const word of words)
      assert.ok(
        marks.some((mark) => mark.includes(word)),
        `${word} in ${marks}`,
      );
    // Each stage has its rank and its score, as the API has them.
    const { hits } = await api("/api/v1/search", { query, collections: ["vectors"], top_k: 10 });
    const table = page.locator("table");
    assert.match(
      await table.innerText(),
      new RegExp(`#${hits[0].lexical.rank}\\s+${hits[0].lexical.score.toFixed(3).replace(".", "[.,]")}\\s+BM25`, "u"),
    );
    assert.match(
      await table.innerText(),
      new RegExp(`#${hits[0].dense.rank}\\s+${hits[0].dense.score.toFixed(3).replace(".", "[.,]")}`, "u"),
    );
    assert.match(await first.innerText(), new RegExp(hits[0].relevance.toFixed(2), "u"));
    assert.equal(await cards(page).count(), hits.length);
    await page.reload();
    await cards(page).first().getByText(place).first().waitFor();
    await accessible(page);
    await settled(page);
  });
}

test("what stages add is what the fused score is made of", async () => {
  const page = await visit("/search?q=how+do+I+repeat+a+request+safely&c=vectors");
  const parts = page.locator("table [role=img]");
  await parts.waitFor();
  const label = await parts.getAttribute("aria-label");
  const [lexical, dense] = [...label.matchAll(/: ([\d.]+) \(/gu)].map(([, value]) => Number(value));
  const { hits } = await api("/api/v1/search", { query: "how do I repeat a request safely", collections: ["vectors"] });
  const close = hits[0].proximity.contribution;
  assert.ok(Math.abs(lexical + dense + close - hits[0].score) < 0.011, label);
  const fused = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Fused" }) });
  await fused.getByRole("cell", { name: hits[0].score.toFixed(3), exact: true }).waitFor();
  await page.getByRole("rowheader", { name: "Close words" }).waitFor();
  // Reciprocal ranks are made of ranks alone.
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Fusion").selectOption("rrf");
  await page.waitForURL(/fusion=rrf/u);
  await page.getByRole("cell", { name: "sum of 1/(k+rank)" }).waitFor();
  await settled(page);
});

test("mode, collections, filter and numbers are in the address, and change the answer", async () => {
  const page = await visit("/search?q=retry&c=vectors");
  await cards(page).first().waitFor();
  await page.getByText("Lexical", { exact: true }).first().click();
  await page.waitForURL(/mode=lexical/u);
  await page.getByText("Hybrid", { exact: true }).first().click();
  await page.getByRole("button", { name: /^Collections/u }).click();
  await page.getByRole("checkbox", { name: new RegExp(`version ${old}, old`, "u") }).check();
  await page.waitForURL(new RegExp(`c=vectors%2Cvectors%40${old}`, "u"));
  await page.keyboard.press("Escape");
  await page.getByText(`version ${old}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Collections/u }).click();
  await page.getByRole("checkbox", { name: /All collections/u }).click();
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.searchParams.has("c"));
  // A collection without vectors is searched by words, and says so.
  await page.getByText(/\d degraded/u).waitFor();
  await page
    .getByText(/has no vectors/u)
    .first()
    .waitFor();
  const filter = page.getByRole("textbox", { name: "Filter" });
  await filter.fill("languag=python");
  await filter.press("Enter");
  await page.getByText("unknown field `languag`; did you mean `language`?").waitFor();
  assert.equal(await filter.getAttribute("aria-invalid"), "true");
  await filter.fill("");
  await filter.press("Enter");
  await page.getByRole("button", { name: "How to write a filter" }).click();
  await page.getByRole("button", { name: "Add language=rust" }).click();
  await page.waitForURL(/filter=language%3Drust/u);
  await filter.fill("language=python");
  await filter.press("Enter");
  await cards(page)
    .first()
    .getByText(/backoff\.py/u)
    .first()
    .waitFor();
  await page.getByRole("spinbutton", { name: "Hits", exact: true }).fill("0");
  await page.keyboard.press("Tab");
  await page.getByText("`top_k` is `0`; it must be from 1 to 1000").waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.waitForURL((url) => url.search === "?q=retry");
  // A mode that no collection has is off, and an address that asks for it is told why.
  assert.equal(await page.getByText("Sparse", { exact: true }).first().isDisabled(), true);
  await settled(page);
  const asked = await visit("/search?q=retry&mode=sparse");
  await asked.getByText(/sparse search is not possible/u).waitFor();
  await accessible(asked);
  await settled(asked);
});

test("nonsense finds nothing, says why, and can be shown", async () => {
  const page = await visit("/search?q=xyzzy+qwfp&c=vectors");
  await page.getByRole("heading", { name: "No hits" }).waitFor();
  await page
    .getByText(/below the minimum relevance/u)
    .first()
    .waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Show them" }).last().click();
  await page.waitForURL(/min_relevance=0/u);
  await cards(page).first().waitFor();
  await settled(page);
});

test("pages follow each other, and keys move through hits and open one", async () => {
  const page = await visit("/search?q=the+ferry&c=vectors&top_k=3&min_relevance=0");
  await cards(page).first().waitFor();
  const first = await selected(page).innerText();
  await page.keyboard.press("j");
  await page.waitForURL(/hit=/u);
  assert.notEqual(await selected(page).innerText(), first);
  await page.keyboard.press("k");
  assert.equal(await selected(page).innerText(), first);
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await page.waitForURL(/offset=3/u);
  await page.getByText("4–6").first().waitFor();
  assert.match(await cards(page).first().innerText(), /^4/u);
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has("offset"));
  await page
    .getByText(first.split("\n")[2] ?? first)
    .first()
    .waitFor();
  await page.waitForLoadState("networkidle");
  await page.getByRole("searchbox").first().press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const where = (await selected(page).locator("a").first().getAttribute("href")) ?? "";
  await page.keyboard.press("Enter");
  await page.waitForURL(
    (url) => url.pathname + url.search === new URL(where, server.url).pathname + new URL(where, server.url).search,
  );
  assert.match(where, /^\/c\/vectors\/d\/.+\?chunk=[0-9a-f]{32}$/u);
});

test("options make passages and a budget, and errors stand at their control", async () => {
  const page = await visit("/search?q=retry&c=vectors&options=1");
  await page.getByLabel("Expand", { exact: true }).selectOption("parent");
  await page
    .getByText(/\d passages?/u)
    .first()
    .waitFor();
  await accessible(page);
  await page.getByLabel("Expand", { exact: true }).selectOption("");
  await page.getByLabel("Token budget").fill("200");
  await page.keyboard.press("Tab");
  await page.getByRole("heading", { name: /of 200/u }).waitFor();
  await page.getByText("Left out of the budget").waitFor();
  await page.getByLabel("Hits per document").fill("0");
  await page.keyboard.press("Tab");
  await page.getByText("`per_document` is `0`; it must be at least 1").waitFor();
  await page.getByLabel("Hits per document").fill("1");
  await page.keyboard.press("Tab");
  await page.getByRole("slider", { name: "Dense weight" }).fill("0.9");
  await page.waitForURL(/dense_weight=0\.9/u);
  await settled(page);
});

test("a missing chunk is explained, by its place and out of a document, and what would bring it in", async () => {
  const page = await visit("/search?q=retry&c=vectors&top_k=2");
  await cards(page).first().waitFor();
  await page.getByRole("button", { name: "Why not this chunk?" }).click();
  await page.waitForURL(/panel=why/u);
  await page.getByLabel("Chunk", { exact: true }).fill("en/bread.md#0");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.waitForURL(/chunk=en%2Fbread\.md%230/u);
  const { verdict } = await api("/api/v1/search/explain", {
    chunk: "en/bread.md#0",
    search: { query: "retry", collections: ["vectors"], top_k: 2 },
  });
  const said = {
    outranked: "2 chunks rank higher.",
    irrelevant: "It is among the best, but its relevance is below",
    no_candidate: "It is not among the best",
  }[verdict.verdict];
  await page.getByText(said).waitFor();
  await accessible(page);
  await page.getByLabel("Chunk", { exact: true }).fill("nowhere.md#0");
  await page.getByRole("button", { name: "Explain" }).click();
  await page
    .getByText(/nowhere\.md/u)
    .last()
    .waitFor();
  for (const [typed, found] of [
    ["PARCEL", 3],
    ["EN/par", 1],
    ["En/", 6],
    ["parcel*", 0],
  ]) {
    await page.getByLabel("Document", { exact: true }).fill(typed);
    await page.waitForFunction((found) => document.querySelectorAll(".chooser li button").length === found, found);
  }
  await page.getByLabel("Document", { exact: true }).fill("PARCEL");
  await page.getByRole("button", { name: /en\/parcel-api\.md/u }).click();
  await page.getByRole("row").filter({ hasText: "#2" }).click();
  await page
    .getByText(/^It is hit|chunks rank higher/u)
    .first()
    .waitFor();
  await page.getByRole("button", { name: /Show more hits|Show the hit/u }).click();
  await settled(page);
});

test("two configurations stand side by side, with what moved", async () => {
  const page = await visit("/search?q=how+do+I+repeat+a+request+safely&c=vectors&min_relevance=0");
  await cards(page).first().waitFor();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForURL(/compare=1/u);
  await page.getByText("Hybrid → Lexical").waitFor();
  await page.getByText(/\d+ in both/u).waitFor();
  assert.equal(await page.getByRole("region", { name: "Hits" }).count(), 2);
  assert.ok((await page.getByText(/^(?:up|down) \d+|^only in [AB]|^same rank/u).count()) > 5);
  await cards(page).first().click();
  await page.getByRole("cell", { name: "BM25" }).first().waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Swap A and B" }).click();
  await page.getByText("Lexical → Hybrid").waitFor();
  await page.reload();
  await page.getByText("Lexical → Hybrid").waitFor();
  // A version against another: the same lines in other chunks are known.
  await page.goto(`${server.url}/search?q=idempotency&c=vectors&compare=1&b_c=vectors@${old}`);
  await page
    .getByText(/same rank|other cut of hit/u)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForURL((url) => !url.search.includes("b_"));
  await settled(page);
});

test("the agent's answer is shown as it is sent, with its tokens", async () => {
  const page = await visit("/search?q=retry&c=vectors&top_k=2&view=agent");
  const shown = page.locator("[data-answer]");
  await shown
    .getByText(/Texts are data/u)
    .first()
    .waitFor();
  const args = { query: "retry", limit: 2, collection: "vectors" };
  const call = async (path, params) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    };
    return (
      await fetch(`${server.api}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      })
    ).text();
  };
  const sent = await call("/mcp", { name: "search", arguments: args });
  const text = await shown.evaluate((node) => node.textContent);
  assert.equal(text, JSON.parse(sent).result.content[0].text, "character for character");
  const { statistics } = await api("/api/v1/preview", {
    doc_id: "a.txt",
    text,
    settings: { preset: "recursive", unit: "tokens", max_size: 100_000_000, overlap_size: 0 },
  });
  await page.locator(`[data-tokens="${statistics.tokens.sum}"]`).waitFor();
  await page.getByRole("tab", { name: "Whole result" }).click();
  const whole = await shown.evaluate((node) => node.textContent);
  assert.ok(sent.includes(`"result":${whole}`));
  await accessible(page);
  await page.getByText("ChatGPT", { exact: true }).click();
  await page.waitForURL(/form=chatgpt/u);
  await page.getByRole("tab", { name: "Request" }).click();
  assert.deepEqual(JSON.parse(await shown.innerText()).params.arguments, { query: "retry" });
  await settled(page);
});

test("a hit is saved as a test question, and versions are measured with it", async () => {
  const query = "how do I repeat a request safely";
  const page = await visit(`/search?q=${encodeURIComponent(query)}&c=vectors`);
  await page.getByRole("button", { name: "Save as test question" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("The question is saved").waitFor();
  await page.getByText("Test question: expected answer at rank 1").waitFor();
  await cards(page).first().getByText("expected", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show questions" }).click();
  await page.getByRole("button", { name: query, exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Lexical" }).check();
  await page.getByRole("button", { name: "Evaluate" }).click();
  await page.getByRole("heading", { name: "Results by version" }).waitFor();
  assert.equal(await page.locator(".versions tbody tr").count(), 4);
  await page
    .getByText(/rank 1/u)
    .first()
    .waitFor();
  await accessible(page);
  await page.getByRole("button", { name: query, exact: true }).click();
  await cards(page).first().waitFor();
  await page.goBack();
  await page.getByRole("button", { name: `Delete “${query}”` }).click();
  await page.getByText("No test question yet").waitFor();
  await settled(page);
});

test("hostile text stays text, in every view of it", async () => {
  const page = await visit("/search?q=window+hacked+script&c=hostile&min_relevance=0");
  await cards(page).first().waitFor();
  for (const name of ["Rendered", "Embedded", "Raw"]) {
    await page.getByRole("tab", { name }).click();
    await drawn(page);
  }
  await page.getByRole("button", { name: "Why not this chunk?" }).click();
  await page.getByRole("button", { name: /hostile\.md/u }).click();
  await page.getByRole("row").first().click();
  await page.locator(".verdict").waitFor();
  await page.goto(
    `${server.url}/search?q=${encodeURIComponent('<img src=x onerror="window.hacked=1"> script')}&c=hostile&view=agent`,
  );
  await page.locator("[data-answer]").waitFor();
  assert.equal(await page.locator("main img, main svg[onload], main iframe, main script").count(), 0);
  await settled(page);
});

for (const path of [
  "/search",
  "/search?q=retry&c=vectors",
  "/search?q=retry&c=vectors&options=1",
  "/search?q=retry&c=vectors&view=agent",
  "/search?q=retry&c=vectors&view=questions",
  "/search?q=retry&c=vectors&compare=1&b_c=vectors&b_mode=dense",
]) {
  test(`${path} fits a page of 600 pixels`, async () => {
    const page = await visit(path, { width: 600 });
    await page.waitForLoadState("networkidle");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await accessible(page);
    await settled(page);
  });
}

test("modes that the collections do not have are greyed out, with the way to get them", async () => {
  const page = await open(`${server.url}/search?q=stove&c=examples`);
  await page.getByText("Dense and sparse search need vectors").waitFor();
  assert.equal(await page.getByRole("radio", { name: "Dense" }).isDisabled(), true);
  assert.equal(await page.getByRole("radio", { name: "Lexical" }).isDisabled(), false);
  await accessible(page);
  await page.getByRole("link", { name: "Give a collection a model" }).click();
  await page.getByRole("dialog").getByLabel("Model", { exact: true }).waitFor();
  assert.match(page.url(), /collection=examples/u);
  await settled(page);
});
