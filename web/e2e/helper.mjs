// What every test of the page needs: a server over a store of its own, and a browser in which whatever breaks the page's promises fails
// the test.

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { front } from "./front.mjs";
import { index, indexed, program, root, run, writeFiles } from "./store.mjs";

export { HOSTILE, root, run } from "./store.mjs";

/** A page that was built, in place of the one that the program holds. */
const built = process.env.CHUNKWRIGHT_PAGE;
const dist = built ?? join(root, "crates/chunkwright-engine/dist");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** How long a step may take, in milliseconds: so long that it only ends what hangs, however busy the machine is. */
const PATIENCE = 180_000;

/** Writes the page of some paths; its address. */
export function writePage(out, paths, ...flags) {
  run(["chunk", ...paths, "--format", "html", "-o", out, "--quiet", "--force", ...flags]);
  if (built) {
    const [style, script] = ["page.css", "page.js"].map((name) => readFileSync(join(dist, "file", name), "utf8"));
    const page = readFileSync(out, "utf8");
    const data = page.slice(page.indexOf("</style>"), page.lastIndexOf("<script>"));
    writeFileSync(
      out,
      [
        page.slice(0, page.indexOf("<style>")),
        "<style>",
        style,
        data,
        "<script>",
        script,
        "</script>\n</body>\n</html>\n",
      ].join(""),
    );
  }
  return `file://${out}`;
}

/**
 * Starts a server with some of the shared collections; `extra` are more: name to files. `at` is another store
 * than a folder of the server's own. Ends with `stop`.
 */
export async function serve({ extra = {}, flags = [], env = {}, collections = ["examples", "hostile"], at } = {}) {
  assert.ok(existsSync(program), `there is no program at ${program}; build it, or set CHUNKWRIGHT_BIN`);
  const folder = mkdtempSync(join(tmpdir(), "chunkwright-e2e-"));
  const store = at ?? join(folder, "store");
  if (collections.length > 0) cpSync(await indexed(collections), store, { recursive: true });
  const into = (collection, path, ...more) => index(store, collection, path, ...more);
  const write = (name, files) => writeFiles(join(folder, name), files);
  for (const [name, files] of Object.entries(extra)) into(name, write(name, files));
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", "--store", store, "--root", folder, ...flags], {
    env: { ...process.env, ...env },
  });
  let said = "";
  const api = await new Promise((resolve, reject) => {
    const read = (data) => {
      said += data;
      const address = /http:\/\/127\.0\.0\.1:\d+/u.exec(said)?.[0];
      if (address) resolve(address);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
  // A program that was built without the page has it put in front.
  const has =
    !built
    && (await fetch(`${api}/`, { headers: { accept: "text/html" } }).then(
      (answer) => answer.ok && /text\/html/u.test(answer.headers.get("content-type") ?? ""),
    ));
  const before = has ? null : await front(api, join(dist, "app"), flags[flags.indexOf("--base-path") + 1 || Infinity]);
  return {
    api,
    url: before?.url ?? api,
    folder,
    store,
    write,
    into,
    async stop() {
      await before?.stop();
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let browser;
/** Contexts by language, which the pages of servers share: what one has loaded is there for the next. */
const contexts = new Map();

/** The browser of a test file; `node --test` runs each file in a process of its own. */
export async function browse() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHUNKWRIGHT_BROWSER ?? "/usr/bin/chromium",
    // Pages share a process: to start one costs more than most tests do in it.
    args: ["--renderer-process-limit=1"],
  });
  return browser;
}
export async function close() {
  await browser?.close();
  browser = undefined;
  contexts.clear();
}

/**
 * A page in the browser. `page.faults` has errors, breaches of the content security policy, requests to other hosts and whatever ran of
 * hostile text; `settled(page)` asserts that there are none, and closes the page.
 */
export async function open(url, { width = 1400, height = 900, scheme = "light", locale = "en-US", expects = [] } = {}) {
  const isServed = url.startsWith("http");
  const context = (isServed && contexts.get(locale)) || (await (await browse()).newContext({ locale }));
  if (isServed) contexts.set(locale, context);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  page.faults = [];
  const origin = new URL(url).origin;
  const fault = (text) => !expects.some((known) => known.test(text)) && page.faults.push(text);
  page.on("pageerror", (error) => fault(`error: ${error.message}`));
  page.on(
    "console",
    (message) =>
      ["error", "warning"].includes(message.type())
      // What is not the page, such as `/health`, has no icon.
      && !message.location().url.endsWith("/favicon.ico")
      && fault(`${message.type()}: ${message.text()}`),
  );
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(?:data|blob|about|file):/u.test(request.url()))
      fault(`request to ${request.url()}`);
  });
  page.on("dialog", (dialog) => (fault(`dialog: ${dialog.message()}`), dialog.dismiss()));
  if (isServed) {
    // What another page remembered is none of this one's.
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
    await session.detach();
  }
  await page.goto(url);
  return page;
}

/** Closes a page: one that is left open goes on looking at jobs. */
export async function leave(page) {
  const context = page.context();
  await page.close();
  if (!Array.from(contexts.values()).includes(context)) await context.close();
}

export async function settled(page) {
  if (await page.evaluate(() => window.hacked)) page.faults.push("text of a document ran as a script");
  assert.deepEqual(page.faults, []);
  await leave(page);
}

/** Waits until a field shows a value, which the server may have to say first. */
export async function shows(field, value) {
  const deadline = Date.now() + 15_000;
  while ((await field.inputValue()) !== value && Date.now() < deadline) await delay(50);
  assert.equal(await field.inputValue(), value);
}

/** Waits until the page has drawn what it was told: what is not there after two frames is not under way. */
export const drawn = (page) =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
  );

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules that judge colours: all that another theme can break. */
const COLOURS = ["color-contrast", "link-in-text-block"];

/** What axe finds that is serious, by rules or groups of rules. */
async function axe(page, runOnly) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    (runOnly) => window.axe.run(document, { runOnly, resultTypes: ["violations"] }),
    runOnly,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary?.split("\n")[1]?.trim()})`)
          .join("; ")}`,
    );
}

/** Themes that pages are held to; with `CHUNKWRIGHT_THEMES=both` the dark one as well. */
const THEMES = [["light", WCAG], ...(process.env.CHUNKWRIGHT_THEMES === "both" ? [["dark", COLOURS]] : [])];

/** Asserts that a page has no serious fault by WCAG 2.2 AA. Hits that other hits are about to replace are dimmed until then. */
export async function accessible(page) {
  await page.waitForFunction(() => !document.querySelector(".old"));
  for (const [theme, runOnly] of THEMES) {
    await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
    assert.deepEqual(await axe(page, runOnly), [], theme);
  }
  await page.evaluate(() => delete document.documentElement.dataset.theme);
}
