// What settings are together: a preset, and keys that are set over it. What they come to, the engine says.

import type { Schemas } from "../api/client.ts";
import type { Key, Value, Values } from "./keys.ts";

/** A preset, and what is set over it. */
export interface Chosen {
  preset: string;
  set: Values;
}

/** What a configuration comes to. */
export interface Resolved {
  values: Values;
  /** The key that the value of a key follows. */
  follows: Record<string, string | undefined>;
  /** The fewest keys that give these values. */
  least: Chosen;
  /** What is wrong, by key. */
  problems: Record<string, string | undefined>;
}

export const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** What a request is sent: the preset first, as it drops whatever is set below. */
export const request = ({ preset, set }: Chosen): Record<string, unknown> => ({ preset, ...set });

export function resolvedOf({ settings, least, problems }: Schemas["ResolveAnswer"]): Resolved {
  const { preset, ...set } = least as Values;
  const key = (pointer: string) => decodeURIComponent(pointer.split("/").at(-1) ?? "");
  return {
    values: Object.fromEntries(settings.map(({ key, value }) => [key, value])) as Values,
    follows: Object.fromEntries(settings.map(({ key, follows }) => [key, follows])),
    least: { preset: preset as string, set },
    problems: Object.fromEntries(problems.map(({ pointer, detail }) => [key(pointer), detail])),
  };
}

/** What is set in vain: it says what holds without it. Empty where leaving it out would change what else holds. */
export function idle({ least, problems }: Resolved, below: Chosen, changes: Values): string[] {
  const all = { ...below.set, ...changes };
  if (!Object.entries(least.set).every(([name, value]) => same(all[name], value))) return [];
  return Object.keys(changes).filter((name) => ![problems, below.set, least.set].some((keys) => name in keys));
}

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
