// The day of the operator of a course platform, on a store in a folder and on Chroma: upload, cut, review, change by hand, index a
// chapter again, migrate, back up, restore, metrics.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, test } from "node:test";
import { accessible, close, open, root, run, serve, settled } from "./helper.mjs";

after(close);

const lesson = (name, n) =>
  `# ${name}\n\n${Array.from({ length: n }, (_, at) => `## Part ${at}\n\nThe ${name} lesson explains in part ${at} how a boat is rowed, how it is steered, and why nobody rows against the tide.\n`).join("\n")}`;

/** Does the whole day against a store. `twin` is a second store, which the backup is restored into. */
async function day(at, move) {
  const server = await serve({ collections: [], flags: ["--embedder", "none", "--log-queries"], ...(at && { at }) });
  const call = async (path, method = "GET", body = undefined) => {
    const answer = await fetch(`${server.api}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer;
  };
  const ended = async (id) => {
    for (;;) {
      const job = await (await call(`/api/v1/jobs/${id}`)).json();
      if (!["queued", "running"].includes(job.state)) return job;
      await delay(50);
    }
  };
  try {
    // Upload, and cut.
    const page = await open(`${server.url}/upload`);
    await page
      .locator('input[type="file"]')
      .first()
      .setInputFiles([
        { name: "rowing.md", mimeType: "text/markdown", buffer: Buffer.from(lesson("rowing", 12)) },
        { name: "sailing.md", mimeType: "text/markdown", buffer: Buffer.from(lesson("sailing", 8)) },
      ]);
    await page.getByLabel("Collection", { exact: true }).fill("course_13");
    await page.getByLabel("Preset").selectOption("course");
    await page.getByRole("button", { name: "Upload 2 files" }).click();
    await page.getByText("All files are stored durably.").waitFor();
    await page.getByRole("link", { name: "Open course_13" }).click();
    // Review.
    await page.getByRole("heading", { level: 2, name: "Use of chunks" }).waitFor();
    const { chunks } = await (await call("/api/v1/collections/course_13/chunks?limit=1000&doc_id=rowing.md")).json();
    // Change by hand: the chunk is not found any more.
    await page.goto(`${server.url}/c/course_13/d/rowing.md?chunk=${chunks[0].chunk_id}`);
    await page.locator('[role="row"][aria-selected="true"]').waitFor();
    await page.keyboard.press("d");
    await page
      .getByText(/disabled/u)
      .first()
      .waitFor();
    // A chapter again, and its change stays.
    const again = await (
      await call("/api/admin/kb/chapters/reindex", "POST", { temp_ref: "course_13/rowing.md" })
    ).json();
    assert.equal((await ended(again.task_id.replace(/\D+/gu, ""))).state, "succeeded");
    const kept = await (await call(`/api/v1/collections/course_13/chunks/${chunks[0].chunk_id}`)).json();
    assert.equal(kept.enabled, false);
    // Migrate.
    await page.goto(`${server.url}/jobs?new=migrate&collection=course_13`);
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Model", { exact: true }).fill("none");
    const begun = page.waitForResponse((answer) => answer.request().method() === "POST");
    await dialog.getByRole("button", { name: "Start job" }).click();
    assert.equal((await ended((await (await begun).json()).id)).state, "succeeded");
    // Searches, and what the log tells of them.
    await call("/api/v1/search?q=tide&collection=course_13");
    await page.goto(`${server.url}/c/course_13`);
    await page.getByRole("radio", { name: /^Found [1-9]/u }).waitFor();
    await page.getByRole("radio", { name: /^Never met/u }).check();
    await accessible(page);
    const metrics = await (await call("/metrics")).text();
    assert.match(metrics, /chunkwright_\w+/u);
    await move(server, page);
    await settled(page);
  } finally {
    await server.stop();
  }
}

test("on a store in a folder", () =>
  day(undefined, async (server) => {
    const [copy, twin] = [join(server.folder, "copy.db"), join(server.folder, "twin")];
    run(["backup", copy, "--store", server.store, "--quiet"]);
    run(["restore", copy, "--store", twin, "--quiet"]);
    assert.match(run(["status", "--store", twin, "--collection", "course_13"]), /course_13/u);
  }));

const servers = process.env.CHUNKWRIGHT_SERVERS ?? join(root, "target/servers/bin");
const program = join(servers, "chroma");
const freePort = async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
};

test(
  "on Chroma",
  { skip: existsSync(program) ? false : "there is no Chroma; `cargo xtask test` installs it" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "chunkwright-chroma-"));
    const port = await freePort();
    const chroma = spawn(program, ["run", "--path", folder, "--host", "127.0.0.1", "--port", String(port)], {
      stdio: "ignore",
    });
    try {
      for (;;) {
        const beats = await fetch(`http://127.0.0.1:${port}/api/v2/heartbeat`)
          .then(({ ok }) => ok)
          .catch(() => false);
        if (beats) break;
        assert.equal(chroma.exitCode, null, "Chroma ended");
        await delay(100);
      }
      await day(`chroma://127.0.0.1:${port}`, async (server, page) => {
        // A server's store is saved as records, from the page, and comes back into any store.
        await page.getByRole("button", { name: "More" }).first().click();
        const [saved] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("menuitem", { name: "Export" }).click(),
        ]);
        assert.equal(saved.suggestedFilename(), "course_13.jsonl");
        const [file, twin] = [join(server.folder, "course.jsonl"), join(server.folder, "twin")];
        await saved.saveAs(file);
        run(["import", file, "--collection", "course_13", "--store", twin, "--quiet"]);
        assert.match(run(["status", "--store", twin, "--collection", "course_13"]), /course_13/u);
      });
    } finally {
      chroma.kill();
      if (chroma.exitCode === null) await once(chroma, "exit");
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
