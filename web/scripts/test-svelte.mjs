// Lets `node --test` import modules with runes, and components, compiled for the server: state holds values, and effects do not run.
// Register it after tsx, which takes the types out of modules.

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { compile, compileModule } from "svelte/compiler";

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  const filename = url.split("?", 1)[0];
  if (filename.endsWith(".css")) return { format: "module", source: "", shortCircuit: true };
  if (filename.endsWith(".svelte")) {
    const source = await readFile(fileURLToPath(filename), "utf8");
    const { js } = compile(source, { filename, generate: "server", css: "external" });
    return { format: "module", source: js.code, shortCircuit: true };
  }
  const loaded = await next(url, context);
  if (!filename.endsWith(".svelte.ts")) return loaded;
  const { js } = compileModule(String(loaded.source), { filename: filename.replace(/ts$/u, "js"), generate: "server" });
  return { ...loaded, source: js.code };
}
