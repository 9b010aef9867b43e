// The frame around every page: navigation, commands, languages, themes, keys of the API, failures.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, close, open, serve, settled } from "./helper.mjs";

let server;
before(async () => (server = await serve()));
after(async () => {
  await close();
  await server?.stop();
});

test("the command palette finds a collection and goes there", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "examples" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox");
  await field.waitFor();
  await accessible(page);
  await field.fill("exampl");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "examples" }).waitFor();
  assert.match(page.url(), /\/c\/examples$/u);
  assert.match(await page.title(), /^examples · Collections · Chunkwright$/u);
  await settled(page);
});

test("back and forward show what was there, scrolled where it was", async () => {
  const page = await open(`${server.url}/c/examples?view=documents`, { height: 500 });
  await page.getByText("zh/vector-search.md").waitFor();
  const places = () =>
    page.evaluate(() => ["#main", "#main [data-scroll]"].map((name) => document.querySelector(name).scrollTop));
  await page.evaluate(() => {
    for (const name of ["#main", "#main [data-scroll]"]) document.querySelector(name).scrollTop = 100;
  });
  const left = await places();
  assert.ok(
    left.every((place) => place > 0),
    String(left),
  );
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Collections" }).click();
  await page.getByRole("link", { name: "hostile" }).waitFor();
  // What was shown a moment ago is not asked for again.
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goBack();
  await page.getByText("zh/vector-search.md").waitFor();
  assert.deepEqual(
    asked.filter((url) => url.includes("/api/v1/collections")),
    [],
  );
  for (let tries = 0; String(await places()) !== String(left); tries += 1) {
    assert.ok(tries < 100, `${await places()}, and not ${left}`);
    await page.waitForTimeout(50);
  }
  await page.goForward();
  await page.getByRole("link", { name: "hostile" }).waitFor();
  await settled(page);
});

test("keys list the shortcuts and close them, and the focus comes back", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "examples" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await accessible(page);
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("Tab");
  await settled(page);
});

test("the page speaks English, Chinese and Russian, and remembers which", async () => {
  const page = await open(`${server.url}/`);
  for (const [name, title, lang] of [
    ["简体中文", "集合", "zh-Hans"],
    ["Русский", "Коллекции", "ru"],
    ["English", "Collections", "en"],
  ]) {
    await page
      .getByRole("banner")
      .getByRole("button", { name: /^(?:Language|语言|Язык)$/u })
      .click();
    await page.getByRole("menuitemradio", { name }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), lang);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  await settled(page);
  const chinese = await open(`${server.url}/`, { locale: "zh-CN" });
  await chinese.getByRole("heading", { level: 1, name: "集合" }).waitFor();
});

test("the theme follows the system until one is chosen", async () => {
  const page = await open(`${server.url}/`, { scheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "Light theme" }).click();
  assert.notEqual(await background(), dark);
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.notEqual(await background(), dark);
  await settled(page);
});

test("a server with keys asks for one, and a refused one is said to be so", async () => {
  const keyed = await serve({
    collections: [],
    env: { CHUNKWRIGHT_API_KEY: "chunkwright_0123456789abcdef0123456789abcdef" },
  });
  try {
    const page = await open(`${keyed.url}/`, { expects: [/401/u] });
    const dialog = page.getByRole("dialog", { name: "This server asks for a key" });
    await dialog.waitFor();
    await accessible(page);
    await page.getByLabel("API key").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("The server refused this key.").waitFor();
    await page.getByLabel("API key").fill("chunkwright_0123456789abcdef0123456789abcdef");
    await page.getByRole("button", { name: "Use key" }).click();
    await page.getByText("No collection yet").waitFor();
    await page.reload();
    await page.getByText("No collection yet").waitFor();
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("0123456789abcdef")), false);
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.reload();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("An API key is needed.").waitFor();
    await settled(page);
  } finally {
    await keyed.stop();
  }
});

test("a failure shows what was wrong and the number of the request", async () => {
  const page = await open(`${server.url}/c/nothing`, { expects: [/404/u] });
  const problem = page.getByRole("alert");
  await problem.waitFor();
  assert.match(await problem.innerText(), /nothing[\s\S]*404[\s\S]*Request \S+/u);
  await accessible(page);
  await settled(page);
});

test("an address that is none says so", async () => {
  const page = await open(`${server.url}/no/such/place`);
  await page.getByText("There is no page at this address").first().waitFor();
  await accessible(page);
  await page.getByRole("link", { name: "Go to collections" }).click();
  await page.getByRole("link", { name: "examples" }).waitFor();
  await settled(page);
});

test("a page that waits for the server is accessible", async () => {
  const page = await open(`${server.url}/no/such/place`);
  await page.route(/\/api\/v1\//u, () => {});
  for (const at of [
    "/",
    "/c/examples",
    "/c/examples?view=documents",
    "/c/examples?view=chunks",
    "/c/examples?view=versions",
    "/c/examples/d/code%2Fgeometry.rs",
    "/c/examples/diff",
    "/jobs",
    "/log",
    "/search?collection=examples&q=vector",
  ]) {
    await page.goto(`${server.url}${at}`);
    await page.getByRole("status", { name: "Loading" }).first().waitFor();
    await accessible(page);
  }
  await settled(page);
});
