// The original of a document beside its chunks: the pages of a PDF, a web page that does nothing, a Word document as it reads.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, close, HOSTILE, open, root, serve, settled } from "./helper.mjs";

const paragraph = (n) =>
  `<p>The ferry number ${n} leaves the harbour at ${n} o'clock every morning of the week, and the harbour master writes it into his large book of arrivals and departures, which is kept in a dry place behind the stove.</p>`;
const PAGE = `<!doctype html><html><head><title>Ferries</title><style>body{display:none}</style>
<script>window.hacked=1</script></head><body onload="window.hacked=2" style="color:red"><h1>Ferries</h1>
<p>The ferry leaves the harbour at eight o'clock every morning, and the harbour master writes it into his book.</p>
${Array.from({ length: 24 }, (_, n) => paragraph(n)).join("\n")}
<h2>Winter</h2><p style="display:none" onclick="window.hacked=3">In winter the ferry &amp; its crew stay in the <b>boat house</b> until the ice is gone.</p>
<img src="https://example.invalid/x.png" onerror="window.hacked=4"><a href="javascript:window.hacked=5">a link</a>
<iframe srcdoc="<script>parent.hacked=6</script>"></iframe><form action="https://example.invalid/"><input name=a></form>
${HOSTILE}</body></html>`;

let server;
before(async () => {
  server = await serve({ collections: [] });
  const folder = server.write("papers", { "ferries.html": PAGE, "plain.txt": "Nothing but text.\n" });
  for (const name of ["english.pdf", "chinese.pdf"])
    cpSync(join(root, "crates/chunkwright-source/tests/samples", name), join(folder, name));
  server.into("papers", folder);
});
after(async () => {
  await close();
  await server?.stop();
});

const chunksOf = async (doc_id) =>
  (await (await fetch(`${server.api}/api/v1/collections/papers/chunks?doc_id=${doc_id}&limit=1000`)).json()).chunks;

test("the pages of a PDF are drawn, and the place of the chunk is marked on its page", async () => {
  const chunks = await chunksOf("english.pdf");
  const chunk = chunks.at(-1);
  const page = await open(`${server.url}/c/papers/d/english.pdf?chunk=${chunk.chunk_id}`);
  await page.getByRole("radio", { name: "Pages" }).check();
  await page.waitForURL(/source=original/u);
  const sheet = page.locator(`[data-page="${chunk.position.first}"]`);
  await sheet.locator(".mark").first().waitFor();
  await page
    .getByText(`is on page${chunk.position.first === chunk.position.last ? "" : "s"} ${chunk.position.first}`, {
      exact: false,
    })
    .waitFor();
  // Something was drawn: the sheet is not white.
  const dark = await sheet.locator("canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] < 100 && data[at + 3] > 200) count += 1;
    return count;
  });
  assert.ok(dark > 500, `${dark} dark pixels`);
  await accessible(page);
  await page.setViewportSize({ width: 600, height: 900 });
  await sheet.waitFor();
  await settled(page);
});

test("a text in Chinese without a font or an encoding of its own is drawn and marked too", async () => {
  const [chunk] = await chunksOf("chinese.pdf");
  const page = await open(`${server.url}/c/papers/d/chinese.pdf?source=original&chunk=${chunk.chunk_id}`);
  await page.locator('[data-page="1"] .mark').first().waitFor();
  await settled(page);
});

test("a web page is shown without what it would do, and the place of the chunk is marked", async () => {
  const chunk = (await chunksOf("ferries.html")).find(({ content }) => content.includes("boat house"));
  const page = await open(`${server.url}/c/papers/d/ferries.html?source=original&chunk=${chunk.chunk_id}`);
  const frame = page.frameLocator("iframe[title]");
  await frame.getByText("In winter the ferry & its crew").waitFor();
  await page.waitForFunction(
    () => document.querySelector("iframe").contentWindow.CSS.highlights.get("chunk")?.size > 0,
  );
  const marked = await page.evaluate(() =>
    Array.from(document.querySelector("iframe").contentWindow.CSS.highlights.get("chunk"), String).join(""),
  );
  assert.match(marked, /boat house/u);
  assert.doesNotMatch(marked, /number 3 leaves/u);
  const left = await frame
    .locator("body")
    .evaluate(
      (body) => body.querySelectorAll("script, style, iframe, form, input, img, a[href], [style], [onclick]").length,
    );
  assert.equal(left, 0);
  assert.equal(await page.locator("iframe").getAttribute("sandbox"), "allow-same-origin");
  await accessible(page);
  await settled(page);
});

test("a document that is nothing but its text has one view", async () => {
  const page = await open(`${server.url}/c/papers/d/plain.txt?source=original`);
  await page.getByRole("grid", { name: "Chunks" }).getByText("Nothing but text.").waitFor();
  assert.equal(await page.getByRole("radio").count(), 0);
  await settled(page);
});
