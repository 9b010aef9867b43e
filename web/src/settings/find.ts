// Finds settings by what one knows of them: a part of the name of a key, what the key does, or how another system calls a preset.

import type { Schemas } from "../api/client.ts";
import type { Key } from "./keys.ts";

/** The fewest letters by which names of other systems are found, and the most that are shown. */
const LETTERS = 3;
const SHOWN = 4;

/** The keys that every word of `query` is said of, in their order. `help` has what keys do in the reader's language. */
export function findKeys(keys: Key[], query: string, help: Record<string, string | undefined>): Key[] {
  const parts = query.toLowerCase().split(/\s+/u);
  return keys.filter((key) => {
    const places = [key.name, key.name.replaceAll("_", " "), key.help, help[key.name] ?? ""];
    return parts.every((part) => places.some((place) => place.toLowerCase().includes(part)));
  });
}

/** Names that other systems have for presets. */
export function findAliases(presets: Schemas["PresetEntry"][], query: string): { alias: string; preset: string }[] {
  const wanted = query.toLowerCase();
  if (wanted.length < LETTERS) return [];
  return presets
    .flatMap(({ name, aliases }) => aliases.map((alias) => ({ alias, preset: name })))
    .filter(({ alias }) => alias.includes(wanted))
    .slice(0, SHOWN);
}
