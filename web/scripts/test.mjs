// Runs the tests of modules in one process: what one has loaded and compiled is there for the others.

import { readdirSync } from "node:fs";
import { join } from "node:path";

const sources = join(import.meta.dirname, "../src");
for (const path of readdirSync(sources, { recursive: true }))
  if (path.endsWith(".test.ts")) await import(join(sources, path));
