#!/usr/bin/env node
// Runs the program of the package for this system, which npm has installed beside this one.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const name = `@chunkwright/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "chunkwright.exe" : "chunkwright";

let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/${file}`);
} catch {
  console.error(`error: \`${name}\` is not installed; install without \`--omit=optional\`, or build the program with cargo`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: \`${program}\` could not be run: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) process.removeAllListeners(signal);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 2);
});
