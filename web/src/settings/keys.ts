// The keys that say how documents are cut, as the engine's schema has them: what each takes, what it does, what it can be. A key, a
// choice or a group that is new there appears here by itself.

import type { Schemas } from "../api/client.ts";

export type Value = string | number | boolean | string[] | number[] | Record<string, unknown>[];
export type Values = Record<string, Value>;

/** How a key is entered. */
export type Kind =
  | { kind: "number"; least: number; most: number; unit: string }
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

/** What keys are about. */
export interface Group {
  name: string;
  title: string;
}

export interface Key {
  name: string;
  /** What it does, by the engine: a sentence, and whatever else a reader needs after a blank line. */
  help: string;
  group: string;
  kind: Kind;
  /** The only strategy that reads it. */
  strategy?: string | undefined;
}

interface Property {
  type?: string | string[];
  oneOf?: { const?: string; description?: string }[];
  anyOf?: Property["oneOf"];
  minimum?: number;
  maximum?: number;
  items?: Property;
  minItems?: number;
  description?: string;
  "x-group"?: string;
  "x-unit"?: string;
  "x-strategy"?: string;
}
export interface Schema {
  properties?: Record<string, Property>;
  "x-groups"?: Group[];
}

const choicesOf = ({ oneOf, anyOf }: Property): Choice[] =>
  (oneOf ?? anyOf ?? []).flatMap((one) => (one.const ? [{ name: one.const, summary: one.description ?? "" }] : []));

function kindOf(property: Property): Kind {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, items, minItems } = property;
  const choices = choicesOf(property);
  if (choices.length > 0) return { kind: "choice", choices };
  if (type === "integer") return { kind: "number", least: minimum, most: maximum, unit: property["x-unit"] ?? "" };
  if (type === "boolean") return { kind: "boolean" };
  if (type === "array" && items?.oneOf) return { kind: "set", choices: choicesOf(items) };
  if (type === "array" && items?.type === "integer" && minItems === 2) return { kind: "range" };
  if (type === "array" && items?.type === "object") return { kind: "tables" };
  return { kind: "text" };
}

/** The keys of cutting, in the order of documentation: those that presets have values of. */
export function keysOf(schema: Schema, presets: Schemas["PresetEntry"][]): Key[] {
  const cutting = presets[0]?.settings ?? {};
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => name in cutting && name !== "preset")
    .map(([name, property]) => ({
      name,
      help: property.description ?? "",
      group: property["x-group"] ?? "",
      kind: kindOf(property),
      strategy: property["x-strategy"],
    }));
}

/** The groups that have keys, in the engine's order; one without a title comes last, by its name. */
export function groupsOf(schema: Schema, keys: Key[]): Group[] {
  const names = new Set(keys.map(({ group }) => group));
  const known = (schema["x-groups"] ?? []).filter(({ name }) => names.delete(name));
  return [...known, ...Array.from(names, (name) => ({ name, title: name }))];
}
