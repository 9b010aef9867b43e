// The file that `chunkwright chunk --format html` writes: opened from disk, without a server.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, close, HOSTILE, open, root, settled, writePage } from "./helper.mjs";

let folder;
before(() => (folder = mkdtempSync(join(tmpdir(), "chunkwright-file-"))));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

/** The address of a page of some paths. */
const pageOf = (name, paths) => writePage(join(folder, `${name}.html`), paths);
const examples = (...names) => names.map((name) => join(root, "examples/corpus", name));
const cards = (page) => page.getByRole("grid").getByRole("row");
const chosen = (page) => page.getByRole("grid").locator("[aria-selected=true]");

test("cards are aligned, and have the first and the last line of their chunk", async () => {
  const page = await open(pageOf("bread", examples("en/bread.md")));
  await cards(page).first().waitFor();
  assert.equal(await page.title(), "Chunks of bread.md");
  const bars = await page
    .locator("[role=grid] .bar")
    .evaluateAll((bars) =>
      bars.map((bar) => [bar.getBoundingClientRect().left, bar.getBoundingClientRect().width].join()),
    );
  assert.ok(bars.length >= 4 && new Set(bars).size === 1, bars.join(" "));
  const text = await cards(page).nth(1).innerText();
  assert.match(text, /Keeping a starter[\s\S]*#1|#1[\s\S]*Keeping a starter/u);
  assert.match(text, /21[\s\S]*39/u);
  await accessible(page);
  await settled(page);
});

test("source, cards and text follow each other", async () => {
  const page = await open(pageOf("bread", examples("en/bread.md")));
  await cards(page).first().waitFor();
  await page.getByText("A sourdough starter is flour").first().click();
  assert.match(await chosen(page).innerText(), /#1/u);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.match(await chosen(page).innerText(), /#3/u);
  await page.waitForFunction(() => /^#[0-9a-f]{32}$/u.test(location.hash));
  const source = page.getByRole("region", { name: /Source/u });
  assert.equal(await source.locator(".row.selected.first").count(), 1);
  const embedded = page.getByRole("tabpanel");
  assert.match(await embedded.innerText(), /Country loaf, hour by hour|Folding/u);
  await page.getByRole("tab", { name: "Raw" }).click();
  assert.match(await embedded.innerText(), /### Folding/u);
  await page.getByText("Details").click();
  assert.match(await page.locator("dl").innerText(), /merged[\s\S]*tree-v/u);
  const link = page.url();
  const again = await open(link);
  await cards(again).first().waitFor();
  await chosen(again).waitFor();
  assert.match(await chosen(again).innerText(), /#3/u);
  await settled(page);
  await settled(again);
});

test("search, reasons, levels and sizes filter, and are cleared together", async () => {
  const page = await open(pageOf("all", [join(root, "examples/corpus")]));
  await cards(page).first().waitFor();
  const status = page.locator(".state");
  await page.getByRole("searchbox").fill("оператор");
  await page.waitForFunction(() => /in all/u.test(document.querySelector(".state")?.textContent ?? ""));
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "grid");
  await page.getByRole("combobox", { name: "Cut" }).selectOption("split:row");
  await page.waitForFunction(() => /in all/u.test(document.querySelector(".state")?.textContent ?? ""));
  await page.getByRole("button", { name: "Show all" }).click();
  assert.doesNotMatch(await status.innerText(), /in all/u);
  // By pointer.
  const plot = await page.locator(".plot").boundingBox();
  await page.mouse.move(plot.x + plot.width * 0.3, plot.y + 20);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 20, { steps: 4 });
  await page.mouse.up();
  assert.match(await status.innerText(), /of 193 in all/u);
  await page.getByRole("button", { name: "Show all" }).click();
  // By keys.
  const least = page.getByRole("slider", { name: "Least size shown" });
  await least.focus();
  for (let n = 0; n < 8; n += 1) await page.keyboard.press("ArrowRight");
  assert.match(await status.innerText(), /in all/u);
  assert.match(await least.getAttribute("aria-valuetext"), /^80–89 tokens$/u);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(await status.innerText(), /in all/u);
  await accessible(page);
  await settled(page);
});

test("documents are chosen by pointer and keys", async () => {
  const page = await open(pageOf("three", examples("en/bread.md", "zh/green-tea.md", "ru/stove.md")));
  await cards(page).first().waitFor();
  await page.keyboard.press("]");
  await page
    .getByRole("button", { name: /green-tea.md/u, pressed: undefined })
    .and(page.locator("[aria-current=true]"))
    .waitFor();
  await page.getByText("采摘").first().waitFor();
  await page.getByRole("button", { name: /stove.md/u }).click();
  await page.getByText("Печь", { exact: false }).first().waitFor();
  await settled(page);
});

test("a page of three languages fits 1400 and 600 pixels in each language", async () => {
  for (const locale of ["en-US", "zh-CN", "ru-RU"]) {
    const page = await open(pageOf("three", examples("en/bread.md", "zh/green-tea.md", "ru/stove.md")), { locale });
    for (const width of [1400, 600]) {
      await page.setViewportSize({ width, height: 900 });
      await page.locator(".row").first().waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, locale);
      await accessible(page);
    }
    await settled(page);
  }
});

test("hostile text and names are text", async () => {
  const name = "<img src=x onerror=hacked>.md";
  writeFileSync(join(folder, name), HOSTILE);
  const page = await open(pageOf("hostile", [join(folder, name)]));
  await cards(page).first().waitFor();
  await page.keyboard.press("j");
  await page.getByText("U+202E").first().waitFor();
  assert.equal(await page.locator("img, iframe, form, base, math, details.x").count(), 0);
  await settled(page);
});

test("a line of a megabyte and a file of 100,000 lines are shown", async () => {
  writeFileSync(join(folder, "long.txt"), `${"word ".repeat(200_000)}\nlast line\n`);
  writeFileSync(
    join(folder, "many.md"),
    Array.from({ length: 100_000 }, (_, at) => (at % 50 === 0 ? `# Heading ${at}` : `Line ${at} of many.`)).join("\n"),
  );
  const page = await open(pageOf("long", [join(folder, "long.txt"), join(folder, "many.md")]));
  await page.locator(".row").first().waitFor();
  await page.keyboard.press("]");
  await page.getByText("# Heading 0").first().waitFor();
  await cards(page).first().waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("End");
  await page.getByText("Line 99999 of many.").first().waitFor();
  await settled(page);
});
