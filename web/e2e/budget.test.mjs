// What the page costs that does not depend on the machine: bytes before it can be used, memory after a thousand navigations.
// What depends on it is measured by `npm run budget:browser`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { close, open, serve } from "./helper.mjs";

let server;
before(async () => (server = await serve()));
after(async () => {
  await close();
  await server?.stop();
});

test("the first page is small", async () => {
  const page = await open("about:blank");
  const bodies = [];
  page.on(
    "response",
    (response) => !response.url().includes("/api/") && bodies.push(response.body().catch(() => Buffer.alloc(0))),
  );
  await page.goto(`${server.url}/`);
  await page.getByRole("link", { name: "examples" }).waitFor();
  const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  console.log(`first load: ${(bytes / 1000).toFixed(1)} kB gzip in ${bodies.length} files`);
  assert.ok(bodies.length > 5 && bytes <= 80_000, `${bytes} bytes in ${bodies.length} files`);
});

/** Rounds of two navigations each; `npm run budget:browser` asks for as many as make a thousand. */
const ROUNDS = Number(process.env.CHUNKWRIGHT_ROUNDS ?? 50);

test("navigations leave the memory as it was", async () => {
  const page = await open("about:blank");
  // What the server answered once is answered again by the page itself: the memory is the page's.
  await page.addInitScript(() => {
    const [real, known] = [window.fetch, new Map()];
    window.fetch = async (request, options) => {
      const { url, method, signal } = new Request(request, options);
      if (method !== "GET") return real(request, options);
      if (!known.has(url)) {
        const answer = await real(request, options);
        known.set(url, { body: await answer.text(), status: answer.status, headers: [...answer.headers] });
      }
      signal.throwIfAborted();
      const { body, ...rest } = known.get(url);
      return new Response(body, rest);
    };
  });
  await page.goto(`${server.url}/`);
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
      // A turn of the event loop, without the pause that a timer has.
      const { port1, port2 } = new MessageChannel();
      const turn = () => new Promise((resolve) => ((port1.onmessage = resolve), port2.postMessage(0)));
      const until = async (found) => {
        while (!found()) await turn();
      };
      for (let n = 0; n < times; n += 1) {
        document.querySelector("#main a[href='/c/examples']").click();
        await until(() => document.querySelectorAll("#main h2").length > 2);
        document.querySelector("header a[href='/']").click();
        await until(() => document.querySelector("#main a[href='/c/examples']"));
      }
    }, times);
  await visit(15);
  const early = await used();
  await visit(ROUNDS);
  const late = await used();
  console.log(
    `memory: ${(early.usedSize / 1e6).toFixed(1)} MB, after ${2 * ROUNDS} navigations ${(late.usedSize / 1e6).toFixed(1)} MB; nodes ${early.nodes}, ${late.nodes}`,
  );
  assert.ok(late.usedSize < early.usedSize * 1.25 + 1_000_000, JSON.stringify({ early, late }));
  assert.deepEqual(
    page.faults.filter((fault) => !fault.startsWith("request to")),
    [],
  );
});
