// What the page costs: bytes before it can be used, time until it can, memory after a thousand navigations.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { close, open, serve, settled, worker } from "./helper.mjs";

let server;
before(async () => (server = await serve()));
after(async () => {
  await close();
  await server?.stop();
});

test("the first page is small and can be used within a second", async () => {
  const times = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const page = await open("about:blank");
    const bodies = [];
    page.on("response", (response) => !response.url().includes("/api/") && bodies.push(response.body().catch(() => Buffer.alloc(0))));
    const work = await worker(page);
    await page.goto(`${server.url}/`, { waitUntil: "commit" });
    await page.waitForFunction(() => document.querySelector("a[href='/c/examples']"), null, { polling: "raf" });
    times.push({ cpu: await work(), time: await page.evaluate(() => performance.now()) });
    if (turn === 0) {
      const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
      console.log(`first load: ${(bytes / 1000).toFixed(1)} kB gzip in ${bodies.length} files`);
      assert.ok(bytes <= 80_000, `${bytes} bytes`);
    }
    await page.context().close();
  }
  const { cpu, time } = times.sort((a, b) => a.cpu - b.cpu)[2];
  console.log(`usable after ${time.toFixed(0)} ms, ${cpu.toFixed(0)} ms of the processor (median of 5)`);
  assert.ok(cpu < 1000, `${cpu} ms`);
});

test("a thousand navigations leave the memory as it was", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "examples" }).waitFor();
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    const { nodes } = await session.send("Memory.getDOMCounters");
    return { usedSize, nodes };
  };
  const visit = (times) =>
    page.evaluate(async (times) => {
      const until = async (found) => {
        while (!found()) await new Promise((resolve) => setTimeout(resolve, 1));
      };
      for (let n = 0; n < times; n += 1) {
        document.querySelector("#main a[href='/c/examples']").click();
        await until(() => document.querySelectorAll("#main h2").length > 2);
        document.querySelector("header a[href='/']").click();
        await until(() => document.querySelector("#main a[href='/c/examples']"));
      }
    }, times);
  page.setDefaultTimeout(300_000);
  await visit(25);
  const early = await used();
  await visit(500);
  const late = await used();
  console.log(`memory: ${(early.usedSize / 1e6).toFixed(1)} MB, after 1,000 navigations ${(late.usedSize / 1e6).toFixed(1)} MB; nodes ${early.nodes}, ${late.nodes}`);
  assert.ok(late.usedSize < early.usedSize * 1.25 + 1_000_000, JSON.stringify({ early, late }));
  await settled(page);
});
