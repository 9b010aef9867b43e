// The same settings for other places: a configuration file, a command, a request, a program.

import type { Key, Value, Values } from "./keys.ts";
import { toText, type Chosen } from "./values.ts";

const quoted = (text: string) => JSON.stringify(text);
/** A word of a shell's command. */
export const word = (text: string) => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function tomlValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  return String(value);
}

/** Lines of `chunkwright.toml`. Tables come last, as the format wants. */
export function toToml({ preset, set }: Chosen): string {
  const isTables = (value: Value): value is Record<string, unknown>[] =>
    Array.isArray(value) && value.length > 0 && typeof value[0] === "object";
  const lines = [`preset = ${quoted(preset)}`];
  for (const [name, value] of Object.entries(set)) if (!isTables(value)) lines.push(`${name} = ${tomlValue(value)}`);
  for (const [name, value] of Object.entries(set)) {
    if (!isTables(value)) continue;
    for (const table of value)
      lines.push("", `[[${name}]]`, ...Object.entries(table).map(([key, value]) => `${key} = ${tomlValue(value)}`));
  }
  return `${lines.join("\n")}\n`;
}

/** A command that cuts a file. Tables have no flag: they stand in the configuration file. */
export function toCommand({ preset, set }: Chosen, keys: Key[], file: string): { command: string; left: string[] } {
  const flags = [`--preset ${word(preset)}`];
  const left: string[] = [];
  for (const key of keys) {
    const value = set[key.name];
    if (value === undefined) continue;
    if (key.kind.kind === "tables") left.push(key.name);
    else
      flags.push(
        `--${key.name.replaceAll("_", "-")} ${word(Array.isArray(value) && value.length === 0 ? "" : toText(key, value))}`,
      );
  }
  const place = file.startsWith("-") ? `./${file}` : file;
  return { command: `chunkwright chunk ${word(place)} ${flags.join(" ")}`, left };
}

/** A request that previews a file, or that cuts a collection again. */
export function toCurl(chosen: Chosen, origin: string, place: { collection: string } | { file: string }): string {
  const settings = { preset: chosen.preset, ...chosen.set };
  if ("file" in place)
    return `curl -F ${word(`file=@${place.file}`)} --form-string ${word(`settings=${JSON.stringify(settings)}`)} ${word(`${origin}/api/v1/preview`)}`;
  return `curl --json ${word(JSON.stringify({ kind: "reindex", collection: place.collection, settings }))} ${word(`${origin}/api/v1/jobs`)}`;
}

function pythonValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value === "object" && value)
    return `{${Object.entries(value)
      .map(([name, value]) => `${quoted(name)}: ${pythonValue(value)}`)
      .join(", ")}}`;
  return String(value);
}

/** A program that cuts a file. */
export function toPython({ preset, set }: Chosen, file: string): string {
  const given = Object.entries({ preset, ...set } as Values).map(([name, value]) => `${name}=${pythonValue(value)}`);
  return `from pathlib import Path\n\nimport chunkwright\n\nchunker = chunkwright.Chunker(${given.join(", ")})\nchunks = chunker.chunk(Path(${quoted(file)}))\n`;
}
