// The page that connects agents: the address, the command, the configuration of each client, and its rules.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessible, close, open, run, serve, settled } from "./helper.mjs";

after(close);

const KEY = "chunkwright_0123456789abcdef0123456789abcdef";

const textOf = (page, file) => page.locator(`[data-file="${file}"]`).innerText();

test("a client is connected by what the page shows, and its choice is in the address", async () => {
  const server = await serve();
  try {
    const page = await open(`${server.url}/connect`);
    await page.getByRole("heading", { level: 1, name: "Connect an agent" }).waitFor();
    const shown = JSON.parse(await textOf(page, ".mcp.json"));
    assert.deepEqual(shown.mcpServers.chunkwright, { type: "http", url: `${server.url}/mcp` });
    assert.equal(await page.locator("[data-address]").innerText(), `${server.url}/mcp`);
    await accessible(page);
    // The server answers there, to what an agent asks first.
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const answer = await fetch(shown.mcpServers.chunkwright.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
      },
      body: JSON.stringify(request),
    });
    assert.equal(answer.status, 200);

    await page.getByLabel("Client").selectOption("codex");
    await page.getByRole("tab", { name: "By command" }).click();
    await page.waitForURL(/\?client=codex&way=command$/u);
    const printed = run(["mcp", "--print-config", "codex", "--quiet"]).toString();
    assert.equal((await textOf(page, "~/.codex/config.toml")).trim(), printed.trim());
    assert.equal(await page.locator("[data-run]").innerText(), "codex mcp add chunkwright -- chunkwright mcp .");
    assert.match(await textOf(page, "AGENTS.md"), /before `grep`/u);
    await page.reload();
    await page.locator("[data-run]").waitFor();
    // A client that reads no addresses has no such tab.
    await page.getByLabel("Client").selectOption("claude-desktop");
    await page.locator('[data-file="claude_desktop_config.json"]').waitFor();
    assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["By command"]);
    await settled(page);
  } finally {
    await server.stop();
  }
});

test("a server with keys says where the key goes, and never shows it", async () => {
  const server = await serve({ collections: [], env: { CHUNKWRIGHT_API_KEY: KEY } });
  try {
    const page = await open(`${server.url}/connect`, { locale: "ru-RU", expects: [/401/u] });
    await page.getByLabel("Ключ API").fill(KEY);
    await page.keyboard.press("Enter");
    await page.locator('[data-file=".mcp.json"]').waitFor();
    const text = await textOf(page, ".mcp.json");
    assert.match(text, /Bearer \$\{CHUNKWRIGHT_API_KEY\}/u);
    assert.doesNotMatch(await page.locator("main").innerText(), /0123456789abcdef/u);
    assert.match(await page.locator("main").innerText(), /требует ключ/u);
    await settled(page);
  } finally {
    await server.stop();
  }
});
