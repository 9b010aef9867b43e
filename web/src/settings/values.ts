// What settings are together: a preset, and keys that are set over it. Sizes that are not set follow those that are, as the engine
// has it: in proportion to `max_size`, or by four characters a token where only the unit changes.

import { SIZES, type Key, type Value, type Values } from "./keys.ts";

/** A preset, and what is set over it. */
export interface Chosen {
  preset: string;
  set: Values;
}

export type Presets = ReadonlyMap<string, Values>;

const CHARS_PER_TOKEN = 4;

export const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** The values of a preset under what is set. */
export function resolve(presets: Presets, { preset, set }: Chosen): Values {
  const before = presets.get(preset) ?? {};
  const values = { ...before, ...set };
  const [times, over] =
    "max_size" in set
      ? [Number(values["max_size"]), Number(before["max_size"])]
      : before["unit"] === "tokens" && values["unit"] === "chars"
        ? [CHARS_PER_TOKEN, 1]
        : before["unit"] === "chars" && values["unit"] === "tokens"
          ? [1, CHARS_PER_TOKEN]
          : [1, 1];
  for (const name of SIZES)
    if (!(name in set) && name in before) values[name] = Math.floor((Number(before[name]) * times) / Math.max(1, over));
  return values;
}

/** Sizes that follow another: the key that they follow. */
export function followed(presets: Presets, chosen: Chosen, key: string): "max_size" | "unit" | null {
  if (key in chosen.set || !SIZES.includes(key)) return null;
  const before = presets.get(chosen.preset)?.[key];
  return same(resolve(presets, chosen)[key], before) ? null : "max_size" in chosen.set ? "max_size" : "unit";
}

/** The least that has to be set over a preset for these values. */
export function least(presets: Presets, preset: string, values: Values): Chosen {
  const set: Values = {};
  const put = (name: string) => {
    const value = values[name];
    if (value !== undefined && !same(resolve(presets, { preset, set })[name], value)) set[name] = value;
  };
  // What others follow comes first.
  put("unit");
  put("max_size");
  const known = presets.get(preset) ?? {};
  for (const name of Object.keys(known)) if (name !== "preset") put(name);
  return { preset, set };
}

/** A set without keys that say what holds anyway. */
export const tidy = (presets: Presets, { preset, set }: Chosen): Chosen =>
  least(presets, preset, resolve(presets, { preset, set }));

/** What a request is sent: the preset first, as it drops whatever is set below. */
export const request = ({ preset, set }: Chosen): Record<string, unknown> => ({ preset, ...set });

/** A value as the address and flags have it. */
export function toText(key: Key, value: Value): string {
  if (key.kind.kind === "tables") return JSON.stringify(value);
  if (key.kind.kind === "range") return (value as number[]).join("-");
  if (Array.isArray(value)) return value.length > 0 ? (value as string[]).join(",") : "none";
  return String(value);
}

/** A value of the address; null for what the key cannot have. */
export function fromText(key: Key, text: string): Value | null {
  const { kind } = key.kind;
  if (kind === "number") return /^\d{1,10}$/u.test(text) ? Number(text) : null;
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : null;
  if (kind === "range") {
    const found = /^(\d{1,9})-(\d{1,9})$/u.exec(text);
    return found ? [Number(found[1]), Number(found[2])] : null;
  }
  if (kind === "set") return text === "none" ? [] : text.split(",");
  if (kind === "tables") {
    try {
      const list = JSON.parse(text) as unknown;
      return Array.isArray(list) ? (list as Record<string, unknown>[]) : null;
    } catch {
      return null;
    }
  }
  return text;
}
