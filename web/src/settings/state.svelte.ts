// The settings that a page tries, as its address has them: `preset=course&max_size=300` is what differs from the base, which is how a
// collection is cut, or what is in force.

import { api, ok, type Schemas } from "../api/client.ts";
import { resource } from "../api/resource.svelte.ts";
import { router, setParams } from "../app/router.svelte.ts";
import { groupsOf, keysOf, type Group, type Key, type Schema, type Value, type Values } from "./keys.ts";
import { fromText, idle, request, resolvedOf, same, toText, type Chosen, type Resolved } from "./values.ts";

export interface Tables {
  keys: Key[];
  groups: Group[];
  presets: Schemas["PresetEntry"][];
}

let tables: Promise<Tables> | null = null;

/** The engine's tables, loaded once. */
function loadTables(): Promise<Tables> {
  tables ??= Promise.all([ok(api.GET("/api/v1/configuration/schema")), ok(api.GET("/api/v1/presets"))]).then(
    ([found, { presets }]) => {
      const schema = found as Schema;
      const keys = keysOf(schema, presets);
      return { keys, groups: groupsOf(schema, keys), presets };
    },
  );
  tables.catch(() => (tables = null));
  return tables;
}

/** What settings come to, over those in force. */
async function resolve(settings: Record<string, unknown>, signal: AbortSignal): Promise<Resolved> {
  return resolvedOf(await ok(api.POST("/api/v1/configuration/resolve", { body: { settings }, signal })));
}

/** How a collection is cut now, or without one what is in force. */
async function loadBase(collection: string | null, signal: AbortSignal): Promise<Resolved> {
  if (!collection) return resolve({}, signal);
  const { current, planned } = await ok(
    api.GET("/api/v1/collections/{collection}/configuration", { params: { path: { collection } }, signal }),
  );
  return resolve(current ?? planned, signal);
}

/** The settings that the page of a collection, or of none, tries. */
export function settingsOf(collection: () => string | null) {
  const settings = resource(async (signal) => {
    const [tables, base] = await Promise.all([loadTables(), loadBase(collection(), signal)]);
    return new Settings(tables, base);
  }, collection);
  $effect(() => settings.data?.resolve());
  return settings;
}

/** Changes that come faster than this wait for the next: what a key or a slider does in one gesture. */
const PAUSE = 20;

export class Settings {
  /** Changes that are not in the address yet: that is written a few times a second at most. */
  #pending = $state.raw<Record<string, string | null>>({});
  #timer = 0;
  readonly base: Chosen;
  /** The last that the engine said, and of which request. */
  #answer = $state.raw<{ of: unknown; resolved: Resolved }>();

  constructor(
    readonly tables: Tables,
    readonly ofBase: Resolved,
  ) {
    this.base = ofBase.least;
  }

  #text(name: string): string | null {
    return name in this.#pending ? (this.#pending[name] ?? null) : router.query.get(name);
  }

  /** The preset that is chosen; null while it is the base. */
  readonly preset = $derived.by(() => {
    const preset = this.#text("preset");
    return this.tables.presets.some(({ name }) => name === preset) ? preset : null;
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
  /** What is sent; the same object while nothing changes. */
  readonly request = $derived.by(() => request(this.chosen));
  /** What the engine says of what is chosen; none while it has not answered. */
  readonly #resolved = $derived.by(() => {
    if (same(this.request, request(this.base))) return this.ofBase;
    return same(this.request, this.#answer?.of) ? this.#answer?.resolved : undefined;
  });
  readonly #last = $derived.by(() => this.#resolved ?? this.#answer?.resolved ?? this.ofBase);
  /** What is set shows at once, and what follows it as soon as the engine says what that comes to. */
  readonly values = $derived.by(() => ({ ...this.#last.values, ...this.chosen.set }));
  readonly problems = $derived.by(() => this.#resolved?.problems ?? {});
  /** The least that says the same, for copies. */
  readonly least = $derived.by(() => this.#resolved?.least ?? this.chosen);
  /** Whether documents would be cut as they are. */
  readonly isBase = $derived.by(() => same(this.least, this.base));
  readonly count = $derived.by(() => Object.keys(this.changes).length);

  /** Asks the engine what the choice comes to, for an effect that runs while it changes. */
  resolve(): (() => void) | undefined {
    const [of, below, changes] = [this.request, this.#below, this.changes];
    if (this.#resolved) return;
    const control = new AbortController();
    const ask = async () => {
      const resolved = await resolve(of, control.signal);
      if (control.signal.aborted) return;
      this.#answer = { of, resolved };
      const inVain = idle(resolved, below, changes);
      if (inVain.length > 0) this.#put(Object.fromEntries(inVain.map((name) => [name, null])));
    };
    // A server that does not answer is complained of where documents are cut.
    const timer = setTimeout(() => void ask().catch(() => undefined), PAUSE);
    return () => (clearTimeout(timer), control.abort());
  }

  /** What a value was, where it is another now. */
  was(name: string): Value | undefined {
    const was = this.ofBase.values[name];
    return same(this.values[name], was) ? undefined : was;
  }
  follows(name: string): string | undefined {
    return name in this.chosen.set ? undefined : this.#last.follows[name];
  }

  set(key: Key, value: Value): void {
    this.#put({ [key.name]: same(value, this.#below.set[key.name]) ? null : toText(key, value) });
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
