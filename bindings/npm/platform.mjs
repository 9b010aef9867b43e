// Writes the package of one system around its program: node platform.mjs PROGRAM PLATFORM ARCH OUT

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [program, platform, arch, out] = process.argv.slice(2);
if (!out) {
  console.error("usage: node platform.mjs PROGRAM PLATFORM ARCH OUT");
  process.exit(2);
}
const { version, license, description } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
const file = platform === "win32" ? "chunkwright.exe" : "chunkwright";
mkdirSync(out, { recursive: true });
copyFileSync(program, join(out, file));
const manifest = {
  name: `@chunkwright/${platform}-${arch}`,
  version,
  description,
  license,
  os: [platform],
  cpu: [arch],
  files: [file],
};
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
