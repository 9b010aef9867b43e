// The page in front of a server whose program was built without it: the files of `dist`, under the headers that the server sets, and
// everything else passed on.

import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `base` is the path below which the server has its own. */
export async function front(api, dist, base = "") {
  const target = new URL(api);
  const server = createServer((asked, answer) => {
    const whole = decodeURI(new URL(asked.url, api).pathname);
    const path = whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole;
    if (/^\/(?:api|mcp|compat|health|ready|metrics)(?:\/|$)/u.test(path)) {
      const headers = { ...asked.headers, host: target.host };
      delete headers.origin;
      const passed = request(
        { host: target.hostname, port: target.port, path: asked.url, method: asked.method, headers },
        (given) => {
          answer.writeHead(given.statusCode, given.headers);
          given.pipe(answer);
        },
      );
      passed.on("error", () => answer.destroy());
      answer.on("close", () => passed.destroy());
      asked.pipe(passed);
      return;
    }
    const file = join(dist, normalize(path));
    const found =
      path !== "/" && file.startsWith(dist) && existsSync(file) && statSync(file).isFile()
        ? file
        : join(dist, "index.html");
    answer.writeHead(200, {
      "content-type": TYPES[extname(found)] ?? "application/octet-stream",
      "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
    });
    const bytes = readFileSync(found);
    // From a page at any depth its parts are named where it begins, wherever that is.
    const top = "../".repeat(path.split("/").length - 2) || "./";
    answer.end(extname(found) === ".html" ? bytes.toString().replaceAll('"./', `"${top}`) : bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}
