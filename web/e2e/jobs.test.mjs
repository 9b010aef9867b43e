// Jobs: asked for, followed, stopped; uploads; the log of queries.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, close, open, serve, settled } from "./helper.mjs";

let server;
const api = async (path, { method = "GET", body } = {}) => {
  const answer = await fetch(`${server.api}/api/v1/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return answer.json();
};
const LONG = Array.from({ length: 300 }, (_, at) => [
  `part-${at}.md`,
  `# Part ${at}\n\n${Array.from({ length: 60 }, (_, n) => `Sentence ${n} of part ${at} says something.`).join(" ")}\n`,
]);

before(async () => {
  server = await serve({ flags: ["--embedder", "none"] });
  server.write("notes", {
    "a.md": "# A\n\nText of a.\n",
    "zh/茶.md": "# 绿茶\n\n绿茶是不发酵的茶。\n",
    "ru/печь.md": "# Печь\n\nПечь топят дровами.\n",
  });
  server.write("long", Object.fromEntries(LONG));
});
after(async () => {
  await close();
  await server?.stop();
});

test("a server without jobs says what they are", async () => {
  const page = await open(`${server.url}/jobs`);
  await page.getByText("No job yet").waitFor();
  await accessible(page);
  await settled(page);
});

test("a folder of the server is indexed into a new collection, by keys", async () => {
  const page = await open(`${server.url}/jobs`);
  await page.getByText("No job yet").waitFor();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New job" });
  await dialog.getByRole("button", { name: "Start job" }).click();
  await dialog.getByText("Enter a path.").waitFor();
  await accessible(page);
  await dialog.getByLabel("Collection").fill("notes");
  await dialog.getByLabel(/Files and folders/u).fill(join(server.folder, "notes"));
  await dialog.getByLabel("Settings", { exact: true }).selectOption("docs");
  await dialog.getByRole("button", { name: "Start job" }).click();
  const job = page.getByRole("article", { name: "Job 1" });
  await job.getByText("succeeded").waitFor();
  await job.getByText("3 documents").waitFor();
  await page.waitForURL(/job=1/u);
  await job.getByText("Indexed", { exact: true }).waitFor();
  await accessible(page);
  assert.equal((await api("collections/notes/documents")).total, 3);
  await settled(page);
});

test("folders are browsed from those that the server was started with", async () => {
  const page = await open(`${server.url}/jobs?new=index`);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Browse folders" }).click();
  const folders = dialog.getByRole("region", { name: "Folders of the server" });
  await folders.getByRole("button", { name: server.folder.split("/").at(-1) }).click();
  await folders.getByRole("button", { name: "notes" }).click();
  await folders.getByText("1 file in it").waitFor();
  await accessible(page);
  await folders.getByRole("button", { name: "Add this folder" }).click();
  assert.match(await dialog.getByLabel(/Files and folders/u).inputValue(), /\/notes$/u);
  await folders.getByRole("button", { name: "To the folder above" }).click();
  await folders.getByRole("button", { name: "long" }).waitFor();
  await settled(page);
});

test("a path outside of the folders of the server is refused, in the dialog", async () => {
  const page = await open(`${server.url}/jobs`, { expects: [/403/u] });
  await page.getByRole("button", { name: "New job" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Collection").fill("notes");
  await dialog.getByLabel(/Files and folders/u).fill("/etc");
  await dialog.getByRole("button", { name: "Start job" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/not below a folder/u)
    .waitFor();
  await accessible(page);
  await settled(page);
});

test("a job is followed by events while it runs, and cancelled", async () => {
  // A model that answers when it is let.
  const held = [];
  let isHeld = true;
  const model = createServer((asked, answer) => {
    let text = "";
    asked.on("data", (part) => (text += part));
    asked.on("end", () => {
      const give = () => {
        const { input } = JSON.parse(text || "{}");
        const data = [input ?? []].flat().map((_, index) => ({ object: "embedding", index, embedding: [1, 0, 0, 0] }));
        answer.setHeader("content-type", "application/json");
        answer.end(
          JSON.stringify({ object: "list", data, model: "slow", usage: { prompt_tokens: 1, total_tokens: 1 } }),
        );
      };
      if (isHeld) held.push(give);
      else give();
    });
  }).listen(0, "127.0.0.1");
  const letGo = (all = false) => {
    if (all) isHeld = false;
    for (const give of held.splice(0)) give();
  };
  await once(model, "listening");
  const slow = await serve({
    collections: [],
    flags: ["--embedder", "openai:slow", "--embedder-url", `http://127.0.0.1:${model.address().port}/v1`],
  });
  try {
    slow.write("long", Object.fromEntries(LONG));
    const page = await open(`${slow.url}/jobs`);
    await page.getByText("No job yet").waitFor();
    const followed = page.waitForRequest(/\/jobs\/1\/events/u);
    await fetch(`${slow.api}/api/v1/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "index", collection: "long", request: { paths: [join(slow.folder, "long")] } }),
    });
    const job = page.getByRole("article", { name: "Job 1" });
    await job.getByRole("progressbar").waitFor();
    await followed;
    // What the model answers is counted and shown, while the rest of the texts waits for it.
    const progress = async () => (await (await fetch(`${slow.api}/api/v1/jobs/1`)).json()).progress.texts;
    for (let turn = 0, before = 0; turn < 2; turn += 1, before = await progress()) {
      while ((await progress()) <= before) {
        letGo();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await page.waitForFunction(
        (before) =>
          Number(
            /([\d,]+) of [\d,]+ texts embedded/u
              .exec(document.querySelector("article")?.innerText)?.[1]
              .replace(",", ""),
          ) > before,
        before,
      );
    }
    await accessible(page);
    // The same, in the list of collections and on the collection's own page.
    const list = await open(`${slow.url}/`);
    await list.getByRole("link", { name: "long", exact: true }).first().waitFor();
    await list.getByRole("meter").waitFor();
    const own = await open(`${slow.url}/c/long`);
    await own.getByRole("progressbar").waitFor();
    await job.getByRole("button", { name: "Cancel" }).click();
    letGo(true);
    await job.getByText("cancelled").waitFor();
    await own.getByRole("progressbar").waitFor({ state: "detached" });
    await list.getByRole("meter").waitFor({ state: "detached" });
    for (const each of [page, list, own]) await settled(each);
  } finally {
    await slow.stop();
    model.closeAllConnections();
    model.close();
  }
});

test("jobs are filtered by collection and state, and both stand in the address", async () => {
  const page = await open(`${server.url}/jobs`);
  await page.getByRole("article").first().waitFor();
  await page.getByLabel("Collection", { exact: true }).selectOption("notes");
  await page.waitForURL(/collection=notes/u);
  await page.waitForFunction(() => document.querySelectorAll("article").length === 1);
  await page.getByLabel("State").selectOption("failed");
  await page.getByText("No job passes the filter.").waitFor();
  await page.waitForURL(/state=failed/u);
  await page.reload();
  await page.getByText("No job passes the filter.").waitFor();
  await settled(page);
});

test("a collection is cut again, moved to another model and pruned by jobs, and a job is run again", async () => {
  const page = await open(`${server.url}/jobs?collection=notes`);
  await page.getByRole("article").first().waitFor();
  const submit = async (kind, fill = async () => {}) => {
    await page.getByRole("button", { name: "New job" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: kind }).check();
    await fill(dialog);
    const begun = page.waitForResponse((answer) => answer.request().method() === "POST" && answer.status() < 300);
    await dialog.getByRole("button", { name: "Start job" }).click();
    const { id } = await (await begun).json();
    await dialog.waitFor({ state: "detached" });
    const job = page.getByRole("article", { name: `Job ${id}`, exact: true });
    await job.getByText("succeeded").waitFor();
    return job;
  };
  await submit(/Cut again/u, (dialog) => dialog.getByLabel("Settings", { exact: true }).selectOption("course"));
  assert.match((await api("collections/notes")).strategy_version, /^sections-/u);
  await submit(/Change the model/u, async (dialog) => {
    await dialog.getByRole("button", { name: "Start job" }).click();
    await dialog.getByText("Enter a model.").waitFor();
    await dialog.getByLabel("Model", { exact: true }).fill("none");
  });
  const pruned = await submit(/Prune/u);
  await pruned.getByText(/1 generation removed/u).waitFor();
  assert.equal((await api("collections/notes/versions")).generations.length, 1);
  await page.getByRole("button", { name: "Details of job 1", exact: true }).click();
  await page.getByRole("article", { name: "Job 1", exact: true }).getByRole("button", { name: "Run again" }).click();
  await page.waitForFunction(() => document.querySelectorAll("article").length === 5);
  await settled(page);
});

test("the list of collections shows what a job does, and indexes a folder", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "notes" }).waitFor();
  await page.getByRole("button", { name: "Index folder" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Collection").fill("long-2");
  await dialog.getByLabel(/Files and folders/u).fill(join(server.folder, "long"));
  await dialog.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL(/\/jobs\?job=/u);
  await page
    .getByRole("article", { name: `Job ${new URL(page.url()).searchParams.get("job")}`, exact: true })
    .getByText("succeeded")
    .waitFor();
  await page.getByRole("link", { name: "long-2" }).click();
  await page.getByRole("heading", { level: 1, name: "long-2" }).waitFor();
  await page.getByText("limit 256").waitFor();
  await settled(page);
});

/** Drops files on the page, once it is there to take them. */
const drop = async (page, files) => {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.evaluate((files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) transfer.items.add(new File([text], name));
    for (const type of ["dragenter", "dragover", "drop"])
      document
        .querySelector("#main")
        .dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, files);
};

test("dropped files go into a new collection, with what became of each", async () => {
  const page = await open(`${server.url}/`);
  await page.getByRole("link", { name: "notes" }).waitFor();
  await drop(page, [
    ["guide.md", "# Guide\n\nText of the guide.\n"],
    ["茶.md", "# 绿茶\n\n绿茶是不发酵的茶。\n"],
    ["tool.exe", "MZ\0\0\0\x01\0\0binary\0"],
    [".env", "KEY=1"],
    ["<img src=x onerror=window.hacked=41>.md", "# Name\n\nHostile name.\n"],
  ]);
  await page.waitForURL(/\/upload/u);
  await page.getByRole("listitem").filter({ hasText: "guide.md" }).getByText("waiting").waitFor();
  await page.getByRole("listitem").filter({ hasText: ".env" }).getByText("left out").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Upload 4 files" }).click();
  await page.getByText("Enter the name of a collection.").waitFor();
  await page.getByLabel("Collection", { exact: true }).fill("fresh");
  await page.getByLabel("Prefix of ids").fill("in/box");
  await page.getByText("A new collection is made.").waitFor();
  await page.getByLabel("Preset").selectOption("stable");
  await page.getByRole("button", { name: "Upload 4 files" }).click();
  await page.getByText("1 file was not stored.").waitFor();
  await page.getByRole("listitem").filter({ hasText: "guide.md" }).getByText("stored").waitFor();
  await page
    .getByRole("listitem")
    .filter({ hasText: "tool.exe" })
    .getByText(/neither text nor a document/u)
    .waitFor();
  await accessible(page);
  await page.getByRole("button", { name: /^failed/u }).click();
  assert.equal(await page.getByRole("listitem").filter({ hasText: "guide.md" }).count(), 0);
  const { documents } = await api("collections/fresh/documents");
  assert.deepEqual(documents.map(({ doc_id }) => doc_id).sort(), [
    "in/box/<img src=x onerror=window.hacked=41>.md",
    "in/box/guide.md",
    "in/box/茶.md",
  ]);
  assert.equal(documents[0].preset, "stable");
  await page.getByRole("link", { name: "Open fresh" }).click();
  await page.getByRole("heading", { level: 1, name: "fresh" }).waitFor();
  await settled(page);
});

test("a folder that is chosen keeps its paths; files that are stored already are unchanged", async () => {
  const folder = join(server.folder, "chosen");
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, "top.md"), "# Top\n\nText.\n");
  writeFileSync(join(folder, "deep/er/low.md"), "# Low\n\nText.\n");
  writeFileSync(join(folder, ".git/config"), "x");
  for (let at = 0; at < 90; at += 1) writeFileSync(join(folder, `deep/${at}.md`), `# Note ${at}\n\nText.\n`);
  const page = await open(`${server.url}/upload?collection=tree`);
  const choose = async () => {
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Choose folder" }).click(),
    ]);
    await chooser.setFiles(folder);
  };
  await choose();
  await page.getByRole("button", { name: "Upload 92 files" }).click();
  await page.getByText("All files are stored durably.").waitFor();
  assert.equal((await api("collections/tree/documents")).total, 92);
  assert.ok(
    (await api("collections/tree/documents?limit=1000")).documents.some(
      ({ doc_id }) => doc_id === "chosen/deep/er/low.md",
    ),
  );
  await page.getByRole("button", { name: "Clear list" }).click();
  await choose();
  await page.getByRole("button", { name: "Upload 92 files" }).click();
  await page.getByText("All files are stored durably.").waitFor();
  await page.getByRole("button", { name: /^unchanged 92/u }).waitFor();
  await settled(page);
});

test("one file that is refused does not refuse the others, and an upload goes on after the server was away", async () => {
  const page = await open(`${server.url}/upload?collection=mixed`, { expects: [/Failed to load resource/u] });
  await drop(page, [
    ["good.md", "# Good\n\nText.\n"],
    ["bad\u0007name.md", "# Bad\n\nText.\n"],
    ["fine.md", "# Fine\n\nText.\n"],
  ]);
  let away = true;
  await page.route(/\/mixed\/documents$/u, (route) => (away ? route.abort("connectionrefused") : route.continue()));
  await page.getByRole("button", { name: "Upload 3 files" }).click();
  await page.getByRole("alert").getByText("The server does not answer").waitFor();
  await accessible(page);
  away = false;
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await page.getByText("1 file was not stored.").waitFor();
  const { documents } = await api("collections/mixed/documents");
  assert.deepEqual(
    documents.map(({ doc_id }) => doc_id),
    ["fine.md", "good.md"],
  );
  await settled(page);
});

for (const [path, name] of [
  ["/upload?collection=notes", "upload"],
  ["/jobs", "jobs"],
  ["/log", "log"],
]) {
  test(`the page of ${name} fits 600 pixels`, async () => {
    const page = await open(`${server.url}${path}`, { width: 600, scheme: "dark", expects: [/404/u] });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await accessible(page);
    await settled(page);
  });
}

test("a log that is off says how it is switched on", async () => {
  const page = await open(`${server.url}/log`, { expects: [/404/u] });
  await page.getByText("chunkwright serve --log-queries").waitFor();
  await settled(page);
});

test("the log shows queries and tool calls, those without hits apart, and is cleared", async () => {
  const page = await open(`${server.url}/`, {});
  await page.getByRole("link", { name: "notes" }).waitFor();
  let entries = Array.from({ length: 140 }, (_, at) => ({
    number: 200 - at,
    at: new Date(Date.now() - at * 60_000).toISOString(),
    door: at % 3 ? "http" : "mcp",
    kind: at % 5 ? "search" : "fetch",
    query: at % 4 ? `question ${at % 10}` : "<img src=x onerror=window.hacked=51> нет ответа",
    collections: ["notes"],
    hits: at % 4 ? 3 : 0,
    relevance: at % 4 ? 0.5 : null,
    took_ms: 4,
  }));
  await page.route(/\/api\/v1\/log\?/u, (route) => {
    if (route.request().method() === "DELETE") return ((entries = []), route.fulfill({ status: 204 }));
    const query = new URL(route.request().url()).searchParams;
    const some = entries.filter(
      (entry) =>
        (!query.get("zero_hits") || entry.hits === 0) && (!query.get("kind") || entry.kind === query.get("kind")),
    );
    const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit"))];
    return route.fulfill({
      json: {
        enabled: true,
        entries: some.slice(from, from + limit),
        next: from + limit < some.length ? String(from + limit) : null,
      },
    });
  });
  await page.getByRole("link", { name: "Log" }).click();
  await page.getByRole("heading", { name: "Queries that found nothing" }).waitFor();
  await page.getByText("35 times").waitFor();
  assert.equal(await page.getByRole("row").count(), 101);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.waitForFunction(() => document.querySelectorAll("tr").length === 141);
  await page.getByRole("button", { name: "Without hits" }).click();
  await page.waitForURL(/zero=true/u);
  await page.waitForFunction(() => document.querySelectorAll("tr").length === 36);
  await accessible(page);
  await page.getByRole("button", { name: "Without hits" }).click();
  await page.getByLabel("Kind").selectOption("fetch");
  await page.waitForFunction(() => document.querySelectorAll("tr").length === 29);
  await page.getByRole("button", { name: "Clear log" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Clear log" }).click();
  await page.getByText("No entry passes the filter.").waitFor();
  await settled(page);
});
