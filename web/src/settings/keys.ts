// The keys that say how documents are cut, as the engine's tables have them: what each takes, what it does, what it can be. A key that
// is new there appears here by itself.

import type { Schemas } from "../api/client.ts";

export type Value = string | number | boolean | string[] | number[] | Record<string, unknown>[];
export type Values = Record<string, Value>;

/** How a key is entered. */
export type Kind =
  | { kind: "number"; least: number; most: number; unit: "size" | "chars" | "lines" | "level" }
  | { kind: "choice"; choices: Choice[] }
  | { kind: "set"; choices: Choice[] }
  | { kind: "range" }
  | { kind: "boolean" }
  | { kind: "tables" }
  | { kind: "text" };

export interface Choice {
  name: string;
  summary: string;
}

export const GROUPS = ["sizes", "strategy", "context", "blocks", "adaptive", "code", "documents", "other"] as const;
export type Group = (typeof GROUPS)[number];

export interface Key {
  name: string;
  /** What it does, by the engine: a sentence, and whatever else a reader needs after a blank line. */
  help: string;
  group: Group;
  kind: Kind;
}

const GROUP: Record<string, Group> = {
  strategy: "strategy",
  packing: "strategy",
  section_level: "strategy",
  unit: "sizes",
  tokenizer: "sizes",
  max_size: "sizes",
  target_size: "sizes",
  min_size: "sizes",
  overlap_size: "sizes",
  band: "sizes",
  context: "context",
  max_heading_level_for_path: "context",
  keep_whole: "blocks",
  set_apart: "blocks",
  lead_in_chars: "blocks",
  short_size: "adaptive",
  long_size: "adaptive",
  medium_max_size: "adaptive",
  medium_overlap_size: "adaptive",
  fixed_chunk_lines: "code",
  overlap_lines: "code",
  kinds: "documents",
};

interface Property {
  type?: string | string[];
  enum?: string[];
  minimum?: number;
  maximum?: number;
  items?: Property;
  minItems?: number;
  description?: string;
}
export interface Schema {
  properties?: Record<string, Property>;
}

/** What a value in backticks followed by a note in brackets says: the engine's sentences list choices so. */
export function choicesIn(help: string): Choice[] {
  return Array.from(help.matchAll(/`([\w-]+)` \(((?:[^()]|\([^()]*\))+)\)/gu), ([, name = "", summary = ""]) => ({
    name,
    summary,
  }));
}

function kindOf(
  name: string,
  { type, enum: names, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, items, minItems, description = "" }: Property,
  registries: Schemas["RegistriesAnswer"],
): Kind {
  const summaries = new Map(choicesIn(description).map(({ name, summary }) => [name, summary]));
  const choices = (list: string[]) => list.map((name) => ({ name, summary: summaries.get(name) ?? "" }));
  const registry = name === "strategy" ? registries.strategies : name === "tokenizer" ? registries.tokenizers : null;
  if (registry) return { kind: "choice", choices: registry.map(({ name, summary = "" }) => ({ name, summary })) };
  if (type === "integer") {
    const unit = name.endsWith("_chars")
      ? "chars"
      : name.endsWith("_lines")
        ? "lines"
        : maximum <= 6
          ? "level"
          : "size";
    return { kind: "number", least: minimum, most: maximum, unit };
  }
  if (type === "boolean") return { kind: "boolean" };
  if (type === "array" && items?.enum) return { kind: "set", choices: choices(items.enum) };
  if (type === "array" && items?.type === "integer" && minItems === 2) return { kind: "range" };
  if (type === "array" && items?.type === "object") return { kind: "tables" };
  if (names) return { kind: "choice", choices: choices(names) };
  return { kind: "text" };
}

/** The keys of cutting, in the order of documentation: those that presets have values of. */
export function keysOf(
  schema: Schema,
  presets: Schemas["PresetEntry"][],
  registries: Schemas["RegistriesAnswer"],
): Key[] {
  const cutting = presets[0]?.settings ?? {};
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => name in cutting && name !== "preset")
    .map(([name, property]) => ({
      name,
      help: property.description ?? "",
      group: GROUP[name] ?? "other",
      kind: kindOf(name, property, registries),
    }));
}

/** Sizes that follow `max_size` and `unit` when they are not set themselves. */
export const SIZES = [
  "max_size",
  "target_size",
  "min_size",
  "overlap_size",
  "short_size",
  "long_size",
  "medium_max_size",
  "medium_overlap_size",
];
