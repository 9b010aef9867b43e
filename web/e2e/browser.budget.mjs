// How long the page takes, on this machine: `npm run budget:browser`, alone. No test: what another program does meanwhile is in it.
// Each figure stands beside its budget, and the command fails where one is over. Where it says so, it is processor time of the
// page's main thread, which other work on the machine does not lengthen.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { close, leave, open, root, serve, writePage } from "./helper.mjs";

let isOver = false;
/** Prints a figure in milliseconds, and whether it is within its budget. */
function measured(what, ms, budget) {
  isOver ||= ms > budget;
  console.log(`${what}: ${ms.toFixed(1)} ms of at most ${budget} ms${ms > budget ? ": too much" : ""}`);
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** What the main thread of a page did so far, in milliseconds of the processor. Call it before the page goes anywhere, and take a new page for each opening. */
async function worker(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
}

/** Opens an address some times, until `isThere` (a function of the page); the medians, and the last page. */
async function opening(url, isThere, times = 5) {
  const [cpu, time] = [[], []];
  let page;
  let work;
  for (let turn = 0; turn < times; turn += 1) {
    if (page) await leave(page);
    page = await open("about:blank");
    work = await worker(page);
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForFunction(isThere, null, { polling: "raf" });
    cpu.push(await work());
    time.push(await page.evaluate(() => performance.now()));
  }
  return { cpu: median(cpu), time: median(time), page, work };
}

/** Processor time of a key and the frame that it leads to, as the mean of many. */
async function perKey({ page, work }, keys, times) {
  const press = (times) =>
    page.evaluate(
      async ([keys, times]) => {
        const target = document.querySelector("[role=grid]");
        target.focus();
        for (let n = 0; n < times; n += 1) {
          target.dispatchEvent(
            new KeyboardEvent("keydown", { key: keys[n % keys.length], bubbles: true, cancelable: true }),
          );
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        }
      },
      [keys, times],
    );
  await press(10);
  const before = await work();
  await press(times);
  return ((await work()) - before) / times;
}

async function first(server) {
  const { cpu, time, page } = await opening(`${server.url}/`, () => document.querySelector("a[href='/c/examples']"));
  measured("first page, until it can be used", time, 1000);
  measured("first page, processor", cpu, 500);
  await leave(page);
}

async function previews(server) {
  const page = await open(`${server.url}/try?collection=examples&doc=en%2Fparcel-api.md`);
  await page.getByRole("region", { name: "What changes" }).waitFor();
  const work = await worker(page);
  const [times, costs] = [[], []];
  for (const size of [300, 180, 260, 140, 320, 200, 280, 160, 240, 220, 270, 150]) {
    const [before, did] = [await page.locator("[data-took]").getAttribute("data-took"), await work()];
    await page.getByRole("spinbutton", { name: "max_size", exact: true }).fill(String(size));
    await page.waitForFunction((before) => document.querySelector("[data-took]").dataset.took !== before, before);
    times.push(await page.evaluate(() => performance.getEntriesByName("preview").at(-1).duration));
    // All that follows counts as well, such as writing the address.
    await page.waitForURL(new RegExp(`max_size=${size}`, "u"));
    costs.push((await work()) - did);
  }
  measured("preview of a document, from a change to the page", median(times), 100);
  measured("preview of a document, processor", median(costs), 100);
  await leave(page);
}

async function longDocument(server) {
  const opened = await opening(
    `${server.url}/c/long/d/long.md`,
    () => document.querySelector(".row.first .cut") && document.querySelector('[role="row"]'),
  );
  measured("document of 10,000 lines, until it is shown", opened.time, 1000);
  measured("document of 10,000 lines, processor", opened.cpu, 600);
  await opened.page
    .getByText(/with it: \d+ tokens/u)
    .first()
    .waitFor();
  measured("document of 10,000 lines, a key and its frame, processor", await perKey(opened, ["j"], 50), 16);
  await leave(opened.page);
}

async function manyChunks(server) {
  const many = Array.from(
    { length: 100_000 },
    (_, at) => `## Record ${at}\n\nA short text of record number ${at}.\n`,
  ).join("\n");
  server.into("many", server.write("many", { "many.md": many }), "--preset", "stable", "--min-size", "1");
  const page = await open("about:blank");
  const work = await worker(page);
  await page.goto(`${server.url}/c/many/d/many.md`);
  await page.getByText("100,000 chunks").first().waitFor();
  for (const [role, name] of [
    ["grid", "list"],
    ["region", "source"],
  ]) {
    const before = await work();
    await page.evaluate(async (role) => {
      const list = document.querySelector(`main [role=${role}][tabindex]`);
      for (let n = 0; n < 200; n += 1) {
        list.scrollTop += 120;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    }, role);
    measured(`${name} of 100,000 chunks, a frame as it scrolls, processor`, ((await work()) - before) / 200, 16.7);
  }
  await leave(page);
}

async function file() {
  const folder = mkdtempSync(join(tmpdir(), "chunkwright-file-"));
  const sources = join(root, "crates/chunkwright/src");
  const lines = readdirSync(sources, { recursive: true })
    .filter((name) => name.endsWith(".rs"))
    .sort()
    .flatMap((name) => readFileSync(join(sources, name), "utf8").split("\n"));
  while (lines.length < 10_000) lines.push(...lines);
  writeFileSync(join(folder, "big.rs"), lines.slice(0, 10_000).join("\n"));
  const opened = await opening(
    writePage(join(folder, "big.html"), [join(folder, "big.rs")]),
    () => document.querySelectorAll("[data-row]").length > 40,
  );
  measured("standalone file of 10,000 lines, until it is shown", opened.time, 1000);
  measured("standalone file of 10,000 lines, processor", opened.cpu, 500);
  measured(
    "standalone file of 10,000 lines, a key and its frame, processor",
    await perKey(opened, ["j", "j", "j", "k"], 100),
    16,
  );
  await leave(opened.page);
  rmSync(folder, { recursive: true });
}

const long = Array.from({ length: 10_000 }, (_, at) =>
  at % 25 === 0
    ? `## Part ${at / 25}`
    : at % 5 === 1
      ? ""
      : `Line ${at} of the long file says what the ${at % 7} ferries of the ${at % 11} harbours do.`,
).join("\n");
const server = await serve({ extra: { long: { "long.md": long } } });
try {
  for (const measure of [first, previews, longDocument, manyChunks, file]) await measure(server);
} finally {
  await close();
  await server.stop();
}
process.exitCode = isOver ? 1 : 0;
