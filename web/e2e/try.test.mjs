// Settings are tried on documents that are stored, dropped and pasted.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, close, drawn, HOSTILE, open, root, run, serve, settled, shows } from "./helper.mjs";

let server;
before(async () => {
  const words = Array.from({ length: 4000 }, (_, at) => `line ${at} of a long list of plain text, number ${at * 7}.`);
  server = await serve({
    extra: {
      long: {
        "long.md": words.map((line, at) => (at % 40 === 0 ? `\n## Part ${at / 40}\n\n${line}` : line)).join("\n"),
      },
    },
  });
});
after(async () => {
  await close();
  await server?.stop();
});

const at = (doc, more = "") => `${server.url}/try?collection=examples&doc=${encodeURIComponent(doc)}${more}`;
const setting = (page, name) => page.getByRole("spinbutton", { name, exact: true });
const post = async (path, body) =>
  (
    await fetch(`${server.api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();
const get = async (path) => (await fetch(`${server.api}${path}`)).json();
const storedIds = async (doc) =>
  (
    await get(`/api/v1/collections/examples/chunks?limit=1000&filter=${encodeURIComponent(`doc_id="${doc}"`)}`)
  ).chunks.map(({ chunk_id }) => chunk_id);
/** The counts that tabs show of chunks. */
const shown = async (page) =>
  Object.fromEntries(
    await Promise.all(
      ["all", "new", "kept", "gone"].map(async (name) => [
        name,
        Number(
          (await page.getByRole("tab", { name: new RegExp(`^${name} ?\\d`, "u") }).innerText()).replace(/\D/gu, ""),
        ),
      ]),
    ),
  );
const ready = (page) => page.getByRole("region", { name: "What changes" }).waitFor();

test("a change of a setting shows at once what it does to a whole document", async () => {
  const page = await open(at("en/bread.md"));
  await ready(page);
  const old = await storedIds("en/bread.md");
  assert.deepEqual(await shown(page), { all: old.length, new: 0, kept: old.length, gone: 0 });
  await setting(page, "max_size").fill("120");
  await page.waitForURL(/max_size=120/u);
  await page.getByRole("tab", { name: /^gone ?[1-9]/u }).waitFor();
  const text = readFileSync(join(root, "examples/corpus/en/bread.md"), "utf8");
  const now = (
    await post("/api/v1/preview", { doc_id: "en/bread.md", text, settings: { preset: "auto", max_size: 120 } })
  ).chunks.map(({ chunk_id }) => chunk_id);
  const kept = now.filter((id) => old.includes(id)).length;
  assert.deepEqual(await shown(page), { all: now.length, new: now.length - kept, kept, gone: old.length - kept });
  // What follows says so, and what was is told.
  await page.getByText("follows max_size").first().waitFor();
  const { settings } = await post("/api/v1/configuration/resolve", { settings: { preset: "auto", max_size: 120 } });
  const target = settings.find(({ key }) => key === "target_size").value;
  await shows(setting(page, "target_size"), String(target));
  await page.getByText("was 256").waitFor();
  await page.reload();
  await ready(page);
  await shows(setting(page, "max_size"), "120");
  await page.getByRole("button", { name: "Reset max_size" }).click();
  await page.waitForURL((url) => !url.searchParams.has("max_size"));
  await page.getByRole("tab", { name: /^gone ?0/u }).waitFor();
  // A setting is found by what it does, and a preset by another system's name.
  const { presets } = await get("/api/v1/presets");
  const names = page.locator(".key .name");
  assert.equal(await names.count(), Object.keys(presets[0].settings).filter((name) => name !== "preset").length);
  const search = page.getByRole("searchbox", { name: "Find a setting" });
  await search.fill("introduce");
  assert.deepEqual(await names.allTextContents(), ["lead_in_chars"]);
  await search.fill("max_chars");
  await page.getByRole("button", { name: "Use preset stable" }).click();
  await page.waitForURL(/preset=stable/u);
  await shows(setting(page, "max_size"), "1800");
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has("preset"));
  await shows(setting(page, "max_size"), "256");
  await settled(page);
});

for (const [doc, text] of [
  ["zh/green-tea.md", "绿茶"],
  ["ru/stove.md", "печ"],
  ["code/tides.py", "def "],
  ["en/parcel-api.md", "Parcel Desk"],
]) {
  test(`${doc} is cut by another preset, and both cuts stand beside its lines`, async () => {
    const page = await open(at(doc, "&preset=course"));
    await ready(page);
    const old = await storedIds(doc);
    const counts = await shown(page);
    assert.equal(counts.kept + counts.gone, old.length);
    assert.equal(counts.kept + counts.new, counts.all);
    assert.ok(counts.new > 0);
    await page
      .getByRole("region", { name: `Source: ${doc}` })
      .getByText(text)
      .first()
      .waitFor();
    assert.ok((await page.locator(".strip").count()) > 5, "the chunks of before are beside the lines");
    // A chunk of the list is shown in the source, and one that is gone where it was.
    await page.getByRole("row").filter({ hasText: "new" }).last().click();
    await page.locator(".box .row.selected").first().waitFor();
    await page.getByRole("tab", { name: /^gone/u }).click();
    await page.getByText("These chunks are as they were before.").waitFor();
    await page.getByRole("row").first().click();
    await page.getByRole("region", { name: /^Chunk \d+$/u }).waitFor();
    await settled(page);
  });
}

test("a preview that another supersedes is aborted, and changes in one gesture are asked for once", async () => {
  const page = await open(at("en/parcel-api.md"));
  await ready(page);
  // The browser does not always tell what a request sent.
  const sizeOf = (request) =>
    request.url().endsWith("/preview") ? request.postDataJSON()?.settings.max_size : undefined;
  const is = (request, size) => sizeOf(request) === size;
  const asked = [];
  page.on("request", (request) => sizeOf(request) && asked.push(sizeOf(request)));
  // The first is not answered before the second is asked for.
  await page.route(/\/preview$/u, (route) => (is(route.request(), 300) ? undefined : route.continue()));
  const first = page.waitForRequest((request) => is(request, 300));
  await setting(page, "max_size").fill("300");
  await first;
  const aborted = page.waitForEvent("requestfailed", (request) => is(request, 300));
  await setting(page, "max_size").fill("200");
  assert.match((await aborted).failure().errorText, /ABORTED/u);
  await page.getByText("of 200").waitFor();
  asked.length = 0;
  const took = await page.evaluate(async () => {
    const start = performance.now();
    const input = [...document.querySelectorAll("input[type=number]")].find(
      ({ labels }) => labels[0]?.textContent === "max_size",
    );
    for (let size = 205; size <= 400; size += 5) {
      input.value = String(size);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      // What follows from a change is done, and no timer ends.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    }
    return performance.now() - start;
  });
  await page.getByText("of 400").waitFor();
  await page.waitForURL(/max_size=400/u);
  // A gesture that lasts is followed, ten times a second at most.
  assert.ok(asked.length <= 2 + took / 100 && asked.at(-1) === 400, `asked for ${asked.join(", ")} in ${took} ms`);
  await settled(page);
});

test("settings that cannot be are refused at their key, and what was shown stays", async () => {
  const page = await open(at("en/bread.md"), { expects: [/status of 400/u] });
  await ready(page);
  await setting(page, "min_size").fill("9999");
  await page.getByText("These settings cannot be used").waitFor();
  const key = page.getByRole("group", { name: "min_size" });
  assert.match(await key.getByRole("alert").innerText(), /must be at most/u);
  assert.equal(await setting(page, "min_size").getAttribute("aria-invalid"), "true");
  await page.getByRole("region", { name: "Source: en/bread.md" }).waitFor();
  await accessible(page);
  await key.getByRole("button", { name: "Reset min_size" }).click();
  await page.getByText("These settings cannot be used").waitFor({ state: "detached" });
  await settled(page);
});

test("a text that is pasted and a file that is dropped are tried, and nothing is stored", async () => {
  const page = await open(`${server.url}/try?preset=stable`);
  const sent = [];
  page.on("request", (request) => request.method() !== "GET" && sent.push(new URL(request.url()).pathname));
  const count = async () => JSON.stringify(await get("/api/v1/collections"));
  const stored = await count();
  await page
    .getByRole("textbox", { name: "Text", exact: true })
    .fill("# Заголовок\n\nАбзац текста.\n\n## 第二节\n\n一些内容。\n");
  await page.getByRole("textbox", { name: "Name" }).fill("mixed.md");
  await page.getByRole("button", { name: "Cut this text" }).click();
  await page.getByRole("region", { name: "Source: mixed.md" }).getByText("第二节").waitFor();
  await page.getByText("not stored").waitFor();
  await page.getByRole("button", { name: "Other document" }).click();
  // What was pasted is still there to be edited.
  assert.match(await page.getByRole("textbox", { name: "Text", exact: true }).inputValue(), /Заголовок/u);
  await page
    .locator("input[type=file]")
    .setInputFiles(join(root, "crates/chunkwright-source/tests/samples/russian.pdf"));
  await page.getByRole("region", { name: "Source: russian.pdf" }).getByText("Руководство по установке").waitFor();
  // Dropped anywhere on the page.
  await page.evaluate(
    (text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "dropped.py", { type: "text/x-python" }));
      for (const type of ["dragenter", "dragover", "drop"])
        document
          .querySelector("#main")
          .dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
    },
    readFileSync(join(root, "examples/corpus/code/tides.py"), "utf8"),
  );
  await page.getByRole("region", { name: "Source: dropped.py" }).getByText("def ").first().waitFor();
  // A file in another encoding: the server finds out which, and the lines are right.
  await page.evaluate(() => {
    const text = "Привет, мир\r\nвторая строка\r\n";
    const bytes = Uint8Array.from(text, (sign) =>
      sign.charCodeAt(0) < 128 ? sign.charCodeAt(0) : sign.charCodeAt(0) - 0x350,
    );
    const data = new DataTransfer();
    data.items.add(new File([bytes], "cp1251.txt"));
    document
      .querySelector("#main")
      .dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  });
  await page.getByRole("region", { name: "Source: cp1251.txt" }).getByText("вторая строка").first().waitFor();
  assert.deepEqual([...new Set(sent)].toSorted(), ["/api/v1/configuration/resolve", "/api/v1/preview"]);
  assert.equal(await count(), stored);
  await settled(page);
});

test("settings are copied as a file, a command, a request and a program that do what is shown", async () => {
  const page = await open(at("en/bread.md", "&preset=course&max_size=700&keep_whole=code"));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ready(page);
  const copied = async (what) => {
    await page.getByRole("button", { name: "Copy settings: Copy" }).click();
    await page.getByRole("menuitem", { name: what }).click();
    await page.getByText(`Copied: ${what}`).first().waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("chunkwright.toml"), 'preset = "course"\nmax_size = 700\nkeep_whole = ["code"]\n');
  const command = await copied("Command");
  assert.equal(command, "chunkwright chunk en/bread.md --preset course --max-size 700 --keep-whole code");
  const chunks = run([...command.split(" ").slice(1), "--format", "jsonl"], { cwd: join(root, "examples/corpus") })
    .trim()
    .split("\n");
  assert.equal(chunks.length, (await shown(page)).all);
  const curl = await copied("curl");
  assert.match(
    curl,
    /^curl --json '\{"kind":"reindex","collection":"examples","settings":\{"preset":"course","max_size":700,"keep_whole":\["code"\]\}\}' http/u,
  );
  assert.match(await copied("Python"), /chunkwright\.Chunker\(preset="course", max_size=700, keep_whole=\["code"\]\)/u);
  // Without a collection the request previews a file; a shell reads it as it is meant.
  await page.goto(`${server.url}/try?preset=docs&min_size=10`);
  await page.getByRole("textbox", { name: "Text", exact: true }).fill("# One\n\nText.\n");
  await page.getByRole("textbox", { name: "Name" }).fill("README.md");
  await page.getByRole("button", { name: "Cut this text" }).click();
  await ready(page);
  const preview = (await copied("curl")).replace("README.md", join(root, "README.md")).replace(server.url, server.api);
  const { stdout } = spawnSync("sh", ["-c", `${preview} -s`], { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(JSON.parse(stdout).statistics.preset, "docs");
  await settled(page);
});

test("a document is found among those that are stored, and compared with presets", async () => {
  const page = await open(`${server.url}/try`);
  await page.getByRole("combobox", { name: "Collection" }).selectOption("examples");
  await page.getByRole("searchbox", { name: "Find a document" }).fill("green");
  // What is found moves up to its place as the others go.
  await page.getByRole("button", { name: /en\/bread\.md/u }).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: /zh\/green-tea\.md/u }).click();
  await ready(page);
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("stable");
  await page.waitForURL(/base=stable/u);
  await page.getByRole("tab", { name: /^gone ?[1-9]/u }).waitFor();
  await page.getByRole("combobox", { name: "Preset" }).selectOption("stable");
  await page.getByRole("tab", { name: /^gone ?0/u }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Other document" }).click();
  await page.getByRole("heading", { name: "Try parameters" }).waitFor();
  await settled(page);
});

test("the place in a long source stays while it is cut otherwise", async () => {
  const page = await open(`${server.url}/try?collection=long&doc=long.md`);
  await ready(page);
  const source = page.getByRole("region", { name: "Source: long.md" });
  await source.evaluate((list) => (list.scrollTop = 30_000));
  const line = () =>
    source.evaluate((list) => {
      const top = list.getBoundingClientRect().top;
      return Number(
        [...list.querySelectorAll("[data-row]")]
          .find((row) => row.getBoundingClientRect().bottom > top + 4)
          .querySelector(".lineno").textContent,
      );
    });
  await page.waitForFunction(() => Number(document.querySelector(".box .list [data-row] .lineno").textContent) > 500);
  await drawn(page);
  const before = await line();
  await setting(page, "max_size").fill("90");
  await page.getByText("of 90").waitFor();
  await drawn(page);
  assert.ok(Math.abs((await line()) - before) <= 2, `${before} became ${await line()}`);
  await settled(page);
});

test("settings are applied to the collection as a job, and the page says which version searches use", async () => {
  const page = await open(at("en/bread.md", "&max_size=200"));
  await ready(page);
  await page.getByRole("button", { name: "Apply to collection" }).click();
  const dialog = page.getByRole("dialog", { name: "Cut examples again" });
  await dialog.getByText("examples@1").waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Cut again" }).click();
  await dialog.getByText(/^Done\. Searches use examples@\d+ now\.$/u).waitFor();
  const { generations } = await get("/api/v1/collections/examples/versions");
  assert.deepEqual(
    generations.map(({ state }) => state),
    ["old", "current"],
  );
  await dialog.getByText(`Searches use examples@${generations[1].generation} now.`).waitFor();
  await accessible(page);
  // A page that is loaded again still shows how the job ended.
  await page.reload();
  await dialog.getByText(/Searches use examples@\d+ now/u).waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  // What was tried is how the collection is cut now.
  await page.waitForURL((url) => !url.searchParams.has("max_size") && !url.searchParams.has("job"));
  await ready(page);
  await shows(setting(page, "max_size"), "200");
  await page.getByRole("tab", { name: /^gone ?0/u }).waitFor();
  assert.equal((await get("/api/v1/collections/examples/configuration")).current.max_size, 200);
  await settled(page);
});

test("hostile text and names stay text", async () => {
  const page = await open(
    `${server.url}/try?collection=hostile&doc=${encodeURIComponent("<b onclick=hacked>.md")}&max_size=64`,
  );
  await ready(page);
  await page.getByRole("row").first().click();
  await page.getByRole("heading", { name: "<b onclick=hacked>.md" }).waitFor();
  await page.goto(`${server.url}/try`);
  await page.getByRole("textbox", { name: "Text", exact: true }).fill(HOSTILE);
  await page.getByRole("textbox", { name: "Name" }).fill("<img src=x onerror=hacked>.html");
  await page.getByRole("button", { name: "Cut this text" }).click();
  await ready(page);
  assert.equal(await page.locator("#main :is(script, iframe, img, form[action], base)").count(), 0);
  await settled(page);
});

for (const width of [1400, 600]) {
  test(`the page is accessible and does not scroll sideways at ${width} pixels`, async () => {
    const page = await open(`${server.url}/try`, { width });
    await page.getByRole("heading", { name: "Drop a file here" }).waitFor();
    await page.getByRole("button", { name: /\.md/u }).first().waitFor();
    await accessible(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await page.goto(at("en/bread.md", "&preset=course&band=100-300"));
    await ready(page);
    for (const name of width < 860 ? ["Settings", "Source", "Chunks"] : [null]) {
      if (name) await page.getByRole("tab", { name, exact: true }).click();
      await drawn(page);
      await accessible(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, name);
    }
    await settled(page);
  });
}

for (const [locale, title, source] of [
  ["zh-CN", "预设", "源文"],
  ["ru-RU", "Пресет", "Источник"],
]) {
  test(`the page speaks ${locale}`, async () => {
    const page = await open(at("en/bread.md", "&max_size=200"), { locale });
    await page.getByText(title, { exact: true }).waitFor();
    await page.getByRole("region", { name: `${source}: en/bread.md` }).waitFor();
    await accessible(page);
    await settled(page);
  });
}
