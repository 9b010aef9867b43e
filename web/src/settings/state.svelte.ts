// The settings that a page tries, as its address has them: `preset=course&max_size=300` is what differs from the base, which is how a
// collection is cut, or what is in force.

import { api, ok, type Schemas } from "../api/client.ts";
import { key as apiKey } from "../api/key.svelte.ts";
import { router, setParams } from "../app/router.svelte.ts";
import { keysOf, type Key, type Schema, type Value, type Values } from "./keys.ts";
import {
  followed,
  fromText,
  least,
  request,
  resolve,
  same,
  tidy,
  toText,
  type Chosen,
  type Presets,
} from "./values.ts";

export interface Tables {
  keys: Key[];
  presets: Schemas["PresetEntry"][];
  values: Presets;
}

let tables: Promise<Tables> | null = null;

/** The engine's tables, loaded once. */
export function loadTables(): Promise<Tables> {
  tables ??= Promise.all([
    ok(api.GET("/api/v1/configuration/schema")),
    ok(api.GET("/api/v1/presets")),
    ok(api.GET("/api/v1/registries")),
  ]).then(([schema, { presets }, registries]) => ({
    keys: keysOf(schema as Schema, presets, registries),
    presets,
    values: new Map(presets.map(({ name, settings }) => [name, settings as Values])),
  }));
  tables.catch(() => (tables = null));
  return tables;
}

/** What is in force without a collection. Whoever may not read it starts from the first preset, and is not asked for a key. */
async function inForce({ presets, values }: Tables, signal: AbortSignal): Promise<Chosen> {
  const quiet = (request: Request) => {
    if (apiKey()) request.headers.set("Authorization", `Bearer ${apiKey()}`);
    return fetch(request);
  };
  const { data } = await api.GET("/api/v1/configuration", { signal, fetch: quiet }).catch(() => ({ data: undefined }));
  const set = Object.fromEntries((data?.settings ?? []).map(({ key, value }) => [key, value])) as Values;
  const preset = (set["preset"] as string | undefined) ?? "";
  return values.has(preset) ? least(values, preset, set) : { preset: presets[0]?.name ?? "auto", set: {} };
}

/** How a collection is cut now, or without one what is in force. */
export async function loadBase(found: Tables, collection: string | null, signal: AbortSignal): Promise<Chosen> {
  if (!collection) return inForce(found, signal);
  const { current, planned } = await ok(
    api.GET("/api/v1/collections/{collection}/configuration", { params: { path: { collection } }, signal }),
  );
  const values = (current ?? planned) as Values;
  const preset = values["preset"] as string;
  // A preset that is no more in the configuration: its values are set over the first.
  return least(found.values, found.values.has(preset) ? preset : (found.presets[0]?.name ?? "auto"), values);
}

export class Settings {
  /** Changes that are not in the address yet: that is written a few times a second at most. */
  #pending = $state.raw<Record<string, string | null>>({});
  #timer = 0;

  constructor(
    readonly tables: Tables,
    readonly base: Chosen,
  ) {}

  #text(name: string): string | null {
    return name in this.#pending ? (this.#pending[name] ?? null) : router.query.get(name);
  }

  /** The preset that is chosen; null while it is the base. */
  readonly preset = $derived.by(() => {
    const preset = this.#text("preset");
    return preset !== null && this.tables.values.has(preset) ? preset : null;
  });
  /** Keys that are set here. */
  readonly changes = $derived.by(() => JSON.parse(this.#said) as Values);
  // As text, so that what depends on it stays as it is while the address changes otherwise.
  readonly #said = $derived.by(() => {
    const set: Values = {};
    for (const key of this.tables.keys) {
      const text = this.#text(key.name);
      const value = text === null ? null : fromText(key, text);
      if (value !== null) set[key.name] = value;
    }
    return JSON.stringify(set);
  });
  #below = $derived.by((): Chosen => (this.preset === null ? this.base : { preset: this.preset, set: {} }));
  readonly chosen = $derived.by((): Chosen => ({
    preset: this.#below.preset,
    set: { ...this.#below.set, ...this.changes },
  }));
  readonly values = $derived.by(() => resolve(this.tables.values, this.chosen));
  readonly baseValues = $derived.by(() => resolve(this.tables.values, this.base));
  /** The least that says the same, for copies. */
  readonly least = $derived.by(() => tidy(this.tables.values, this.chosen));
  /** Whether documents would be cut as they are. */
  readonly isBase = $derived.by(() => same(request(this.least), request(tidy(this.tables.values, this.base))));
  /** What is sent; the same object while nothing changes. */
  readonly request = $derived.by(() => request(this.chosen));
  readonly count = $derived.by(() => Object.keys(this.changes).length);

  /** What a value was, where it is another now. */
  was(name: string): Value | undefined {
    return same(this.values[name], this.baseValues[name]) ? undefined : this.baseValues[name];
  }
  follows(name: string) {
    return followed(this.tables.values, this.chosen, name);
  }

  set(key: Key, value: Value): void {
    const { [key.name]: _, ...others } = this.changes;
    const without = resolve(this.tables.values, { preset: this.#below.preset, set: { ...this.#below.set, ...others } });
    this.#put({ [key.name]: same(without[key.name], value) ? null : toText(key, value) });
  }
  reset(name: string): void {
    this.#put({ [name]: null });
  }
  resetAll(): void {
    this.#push({ preset: null, ...this.#cleared() });
  }
  /** Starts from a preset, or with null from the base; what was set belongs to another preset and is dropped. */
  start(preset: string | null): void {
    this.#push({ preset, ...this.#cleared() });
  }

  #cleared = () => Object.fromEntries(this.tables.keys.map(({ name }) => [name, null]));
  #push(changes: Record<string, string | null>) {
    this.flush();
    setParams(changes, true);
  }
  #put(changes: Record<string, string | null>) {
    this.#pending = { ...this.#pending, ...changes };
    this.#timer ||= window.setTimeout(this.flush, 200);
  }
  /** Writes the address now. */
  flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (Object.keys(this.#pending).length === 0) return;
    setParams(this.#pending);
    this.#pending = {};
  };
  /** Values as the address has them. */
  texts(values: Values): Record<string, string> {
    return Object.fromEntries(
      this.tables.keys.filter(({ name }) => name in values).map((key) => [key.name, toText(key, values[key.name]!)]),
    );
  }
  /** The query that says these settings, for a link to another page. */
  readonly query = $derived.by(() => {
    return new URLSearchParams({
      ...(this.preset !== null && { preset: this.preset }),
      ...this.texts(this.changes),
    }).toString();
  });
}
