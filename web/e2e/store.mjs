// The stores that tests start from: collections that were really indexed, once for all tests.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const root = join(import.meta.dirname, "../..");
export const program = process.env.CHUNKWRIGHT_BIN ?? join(root, "target/debug/chunkwright");

/** Text that tries everything to become more than text. Whatever of it runs sets `window.hacked`. */
export const HOSTILE = [
  '# <script>window.hacked=1</script> <img src=x onerror="window.hacked=2">',
  "",
  '[a link](javascript:window.hacked=3) and <a href="javascript:window.hacked=4">another</a>, ![pic](https://example.invalid/x.png)',
  "",
  '<svg onload="window.hacked=5"><script>window.hacked=6</script></svg> <iframe srcdoc="<script>parent.hacked=7</script>"></iframe>',
  "",
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=8&gt;">',
  "",
  '<form action="https://example.invalid/"><input name=a><button>Send</button></form> <base href="https://example.invalid/">',
  "",
  '| a | b |\n|---|---|\n| <details open ontoggle="window.hacked=9"> | `</script><script>window.hacked=10</script>` |',
  "",
  "Text that turns: \u202eright to left\u202c, zero\u200bwidth, tag\u{e0041}, soft\u00adhyphen.",
  "",
  '```html\n<body onload="window.hacked=11">\n```',
  "",
].join("\n");

/** Runs the program; its output. */
export function run(args, options = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  assert.ok(status === 0 || options.mayFail, `chunkwright ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Writes files below a folder. */
export function writeFiles(at, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), text);
  }
  return at;
}

/** Indexes files into a collection, without vectors unless `flags` name an embedder. */
export const index = (store, collection, path, ...flags) =>
  run([
    ...["index", path, "--collection", collection, "--store", store, "--quiet", ...flags],
    ...(flags.includes("--embedder") ? [] : ["--embedder", "none"]),
  ]);

const HOSTILE_FILES = {
  "hostile.md": HOSTILE,
  "<b onclick=hacked>.md": HOSTILE,
  "code.js": `// </script><script>window.hacked=12</script>\nconst x = "\u202e";\n`,
};
const PREFIX = "chunkwright-indexed-";
const corpus = join(root, "examples/corpus");
/** The collections that tests share, and how each is indexed into a store. */
const SHARED = {
  /** English, Chinese, Russian and code, without vectors. */
  examples: (store) => index(store, "examples", corpus),
  hostile: (store) => index(store, "hostile", writeFiles(join(store, "../hostile"), HOSTILE_FILES)),
  /** The same as `examples` with vectors, in two versions. */
  vectors: (store) => {
    for (const flags of [["--preset", "course"], []]) index(store, "vectors", corpus, "--embedder", "static", ...flags);
  },
};

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Indexes collections, and removes what was indexed on other days. */
function build(at, names) {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const old = join(tmpdir(), name);
    const made = statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > 86_400_000) rmSync(old, { recursive: true, force: true });
  }
  rmSync(at, { recursive: true, force: true });
  for (const name of names) SHARED[name](join(at, "store"));
  writeFileSync(join(at, "ready"), "");
}

/** A store with some of the shared collections. It is indexed once for a program and what it indexes; whoever needs it copies it. */
export async function indexed(names) {
  const { size, mtimeMs } = statSync(program);
  const key = createHash("sha256").update(JSON.stringify([program, size, mtimeMs, names, HOSTILE_FILES]));
  for (const entry of readdirSync(corpus, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) key.update(entry.name).update(readFileSync(join(entry.parentPath ?? entry.path, entry.name)));
  const at = join(tmpdir(), `${PREFIX}${key.digest("hex").slice(0, 16)}`);
  const lock = `${at}.lock`;
  while (!existsSync(join(at, "ready"))) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
    } catch {
      // Another test indexes it, or was ended while it did.
      const owner = existsSync(lock) && Number(readFileSync(lock, "utf8"));
      if (owner && !isAlive(owner)) rmSync(lock, { force: true });
      await pause(20);
      continue;
    }
    try {
      if (!existsSync(join(at, "ready"))) build(at, names);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return join(at, "store");
}
