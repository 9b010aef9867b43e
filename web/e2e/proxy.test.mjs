// The page and the page of the API below a path, behind a real nginx that takes the path off or passes it on.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { close, open, serve, settled } from "./helper.mjs";

after(close);

const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

/** A port that is free now. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts nginx on a port with what `location` says; a function that ends it. */
async function nginx(port, location) {
  const folder = mkdtempSync(join(tmpdir(), "chunkwright-nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((part) => `${part}_temp_path ${part};`)
    .join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${temporary} server { listen 127.0.0.1:${port}; location /lamp/ { ${location} } } }`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  const answers = () =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1")
        .once("connect", () => (socket.destroy(), resolve(true)))
        .once("error", () => resolve(false));
    });
  while (!(await answers())) assert.equal(child.exitCode, null, `nginx ended: ${said}`);
  return async () => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  };
}

const WAYS = {
  "takes it off and says nothing": { flags: [], pass: (api) => `proxy_pass ${api}/;` },
  "passes it on": { flags: ["--base-path", "/lamp"], pass: (api) => `proxy_pass ${api};` },
};

for (const [name, { flags, pass }] of Object.entries(WAYS)) {
  test(`the page works below a path where a proxy ${name}`, { skip: !hasNginx && "there is no nginx" }, async () => {
    const port = await freePort();
    const server = await serve({ flags: ["--allowed-host", `127.0.0.1:${port}`, ...flags] });
    const stop = await nginx(port, `${pass(server.url)} proxy_set_header Host $http_host;`);
    const url = `http://127.0.0.1:${port}/lamp`;
    try {
      const page = await open(`${url}/`);
      /** Every link of what is shown leads below the path. */
      const inside = async () => {
        const links = await page.evaluate(() =>
          Array.from(document.querySelectorAll("a[href]"), (link) => link.getAttribute("href")),
        );
        assert.ok(links.length > 5, `${links}`);
        assert.deepEqual(
          links.filter((link) => !link.startsWith("/lamp/") && !link.startsWith("#")),
          [],
        );
      };
      await page.getByRole("link", { name: "examples" }).waitFor();
      await inside();
      await page.getByRole("link", { name: "examples" }).click();
      await page.getByRole("heading", { level: 1, name: "examples" }).waitFor();
      assert.equal(page.url(), `${url}/c/examples`);
      await page.goto(`${url}/c/examples?view=documents`);
      await page.getByRole("link", { name: "zh/vector-search.md" }).click();
      await page.waitForURL(`${url}/c/examples/d/zh/vector-search.md`);
      // A visit of a place at any depth finds the page's parts.
      for (const again of [() => page.reload(), () => page.goto(`${url}/c/examples/d/zh/vector-search.md`)]) {
        await again();
        await page.getByRole("heading", { level: 1 }).filter({ hasText: "vector-search.md" }).waitFor();
        await page.locator("[data-chunk], article, li").first().waitFor();
      }
      await inside();
      await page.goto(`${url}/search?collection=examples&q=vector`);
      await page
        .getByRole("link", { name: /vector-search\.md/u })
        .first()
        .waitFor();
      await inside();
      await page.goBack();
      await page.getByRole("heading", { level: 1 }).filter({ hasText: "vector-search.md" }).waitFor();
      for (const [key, at] of [
        ["j", "/jobs"],
        ["t", "/try"],
        ["c", "/"],
      ]) {
        // Two keys in turn belong together only when they are close, however busy the machine is.
        await Promise.all([page.keyboard.press("g"), page.keyboard.press(key)]);
        await page.waitForURL(`${url}${at}`);
      }
      // Another server on the same host has memories of its own.
      await page.getByRole("button", { name: "Theme" }).click();
      await page.getByRole("menuitemradio", { name: "Light theme" }).click();
      const stored = await page.evaluate(() => Object.keys(localStorage));
      assert.ok(stored.length > 0 && stored.every((key) => key.endsWith("/lamp")), `${stored}`);
      await settled(page);

      const docs = await open(`${url}/api/docs`);
      await docs
        .getByText("list_collections")
        .or(docs.getByText("/api/v1/collections", { exact: true }))
        .first()
        .waitFor();
      const operation = docs.locator("#list_collections");
      await operation.locator("summary").first().click();
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.getByText(/^200/u).waitFor();
      await settled(docs);
    } finally {
      await stop();
      await server.stop();
    }
  });
}
