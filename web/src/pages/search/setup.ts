// What a search is asked with: as the address of the page says it, and as the API takes it. Two of them stand side by side
// when configurations are compared; the second one's parameters begin with `b_`. Which options there are, what they take and
// where they stand in a request, the server says.

import type { Problem, Schemas } from "../../api/client.ts";

export type SearchRequest = Schemas["SearchRequest"];
export type Hit = Schemas["Hit"];
export type Passage = Schemas["FoundPassage"];

/** An answer: hits, or passages where the request expands them. */
export interface SearchAnswer {
  hits?: Hit[];
  passages?: Passage[];
  /** How many collections were searched; of many only some are in `collections`. */
  searched: number;
  below?: Schemas["Below"] | null;
  collections: Schemas["SearchedCollection"][];
  budget?: Schemas["Budget"];
  notices?: Schemas["Notice"][];
}
export type Mode = Schemas["Mode"];
export type Side = "a" | "b";

export const MODES: Mode[] = ["hybrid", "lexical", "dense", "sparse"];
export const STAGES = ["lexical", "dense", "sparse", "late"] as const;
export type StageName = (typeof STAGES)[number];

/** Options that the page names; it shows the others as the table lists them. */
export type Known = "c" | "mode" | "filter" | "top_k" | "min_relevance" | "fusion" | "candidates" | "expand";
export type Name = string;
export type Setup = Record<Known, string> & Record<string, string>;

/** An option of searches. */
export interface Option {
  name: Name;
  /** Names of the fields of a request that lead to it. */
  path: string[];
  kind: "integer" | "number" | "boolean" | "choice" | "filter" | "expansion";
  least: number | undefined;
  most: number | undefined;
  /** Of a choice: each name, with what a request has. */
  choices: { name: string; value: string }[];
  /** What it is where nothing is said; empty for nothing. */
  usual: string;
  help: string;
  group: string;
  flag: string | undefined;
  /** The value that its flag stands for. */
  switch: string | undefined;
  /** Without what it has no effect. */
  needs: { option: Name; value: string | null } | undefined;
}

/** A property of the server's schema. */
interface Property {
  type: string;
  minimum?: number;
  maximum?: number;
  enum?: string[];
  pattern?: string;
  default?: string | number | boolean;
  description: string;
  "x-pointer": string;
  "x-group": string;
  "x-values"?: string[];
  "x-flag"?: string;
  "x-switch"?: string;
  "x-needs"?: { option: Name; value: string | null };
}
export interface Schema {
  properties: Record<Name, Property>;
}

/** What the page asks for where the address says nothing else: more hits than a command shows. */
const OWN: Record<Name, string> = { top_k: "10" };

/** Options that the page sets by itself. */
const BY_ITSELF: Name[] = ["offset", "all_collections"];

/** Options that stand beside the query; a panel holds the others. */
const BESIDE: Name[] = ["c", "mode", "filter", "top_k", "min_relevance"];

/** The controls of members of a request that no option leads to, or that the page sets by itself. */
const OTHERWISE: Record<string, Name> = { query: "q", collections: "c", offset: "candidates" };

/** The parameter of the address that holds a value of a side. */
export const paramOf = (side: Side, name: Name): string => (side === "b" ? `b_${name}` : name);

export const collectionsOf = ({ c }: Setup): string[] => c.split(",").filter(Boolean);

const quoted = (text: string): string => (/^[\w@./:-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The words of the page for an option, by what they are for. An option that it has none for shows those of the engine. */
export const wordsOf = (words: object, name: Name): Partial<Record<string, string>> =>
  (words as Record<Name, Partial<Record<string, string>> | undefined>)[name] ?? {};

export const labelOf = (words: object, name: Name): string =>
  wordsOf(words, name)["label"] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

const textOf = (value: Property["default"]): string => (value === undefined || value === false ? "" : String(value));
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function kindOf({ type, enum: names, pattern }: Property, name: Name): Option["kind"] {
  if (names) return "choice";
  if (type !== "string") return type as "integer";
  return pattern ? "expansion" : name === "filter" ? "filter" : "choice";
}

const optionOf = ([name, property]: [Name, Property]): Option => ({
  name,
  path: property["x-pointer"].slice(1).split("/"),
  kind: kindOf(property, name),
  least: property.minimum,
  most: property.maximum,
  choices: (property.enum ?? []).map((name, at) => ({ name, value: property["x-values"]?.[at] ?? name })),
  usual: textOf(property.default),
  help: property.description,
  group: property["x-group"],
  flag: property["x-flag"],
  switch: property["x-switch"],
  needs: property["x-needs"],
});

/** The options of searches, as the server has them. */
export class Table {
  readonly options: Option[];
  readonly defaults: Setup;
  readonly names: Name[];
  /** What the panel of further options holds. */
  readonly further: Option[];
  readonly #usual: SearchRequest;

  constructor({ properties }: Schema) {
    this.options = Object.entries(properties).map(optionOf);
    const usual = { c: "", ...Object.fromEntries(this.options.map(({ name, usual }) => [name, usual])) } as Setup;
    for (const name of BY_ITSELF) delete usual[name];
    this.defaults = { ...usual, ...OWN };
    this.names = Object.keys(this.defaults);
    this.further = this.options.filter(({ name }) => name in usual && !BESIDE.includes(name));
    this.#usual = { ...this.requestOf("", usual), all_collections: false };
  }

  find = (name: Name): Option | undefined => this.options.find((option) => option.name === name);

  /** A side's values: those of the address over the defaults. */
  setupOf(query: URLSearchParams, side: Side): Setup {
    const value = (name: Name) => query.get(paramOf(side, name)) ?? this.defaults[name];
    return Object.fromEntries(this.names.map((name) => [name, value(name)])) as Setup;
  }

  /** What an address has to say of a value; null for nothing, because it is the default. */
  toParam = (name: Name, value: string): string | null => (value === this.defaults[name] ? null : value);

  /** Values that are not the default. */
  changed = (setup: Setup, names: Name[] = this.names): Name[] =>
    names.filter((name) => setup[name] !== this.defaults[name]);

  /** Values that two sides do not share. */
  differences = (a: Setup, b: Setup): Name[] => this.names.filter((name) => a[name] !== b[name]);

  /** Whether an option has an effect beside the others. */
  hasEffect({ needs }: Option, setup: Setup): boolean {
    const other = needs ? (setup[needs.option] ?? "") : "";
    return !needs || (needs.value === null ? other !== "" : other === needs.value);
  }

  /** The request that a setup makes. Numbers out of range go as they are: the server says what would be right. */
  requestOf(query: string, setup: Setup, offset = 0): SearchRequest {
    const collections = collectionsOf(setup);
    const request: Record<string, unknown> = { query, collections, all_collections: collections.length === 0, offset };
    for (const option of this.options) {
      const text = setup[option.name];
      if (text === undefined || !this.hasEffect(option, setup)) continue;
      const value = this.#valueOf(option, text);
      const [first, second] = option.path as [string, string | undefined];
      if (second === undefined) request[first] = value;
      else if (value !== null) request[first] = { ...(request[first] as object | undefined), [second]: value };
    }
    return request as SearchRequest;
  }

  #valueOf({ kind, choices }: Option, text: string): unknown {
    if (kind === "boolean") return text !== "";
    if (text === "") return null;
    if (kind === "integer" || kind === "number") return Number(text);
    return choices.find(({ name }) => name === text)?.value ?? text;
  }

  /** What of a request is not the default of the API: what a person would write. */
  essential(request: SearchRequest): Partial<SearchRequest> {
    const usual: Partial<SearchRequest> = { ...this.#usual, query: undefined, expand: null };
    return Object.fromEntries(
      Object.entries(request).filter(([name, value]) => !same(value, usual[name as keyof SearchRequest])),
    );
  }

  asCurl = (request: SearchRequest, origin: string): string =>
    `curl ${origin}/api/v1/search --json ${quoted(JSON.stringify(this.essential(request)))}`;

  /** The search as a command. `text` has no flag there. */
  asCommand(request: SearchRequest): string {
    // What begins with a dash is no flag behind `--`.
    const isFlag = request.query.startsWith("-");
    const out = ["chunkwright", "search", ...(isFlag ? [] : [quoted(request.query)])];
    for (const name of request.collections) out.push("--collection", quoted(name));
    for (const option of this.options) {
      const [first, second] = option.path as [string, string | undefined];
      const field = (request as unknown as Record<string, unknown>)[first];
      const value = second === undefined ? field : (field as Record<string, unknown> | null | undefined)?.[second];
      if (!option.flag || value == null || same(value, this.#valueOf(option, option.usual))) continue;
      out.push(`--${option.flag}`);
      if (option.kind === "boolean" || option.switch !== undefined) continue;
      const name = option.choices.find((choice) => choice.value === value)?.name;
      out.push(quoted(name ?? (typeof value === "string" ? value : JSON.stringify(value))));
    }
    if (isFlag) out.push("--", quoted(request.query));
    return out.join(" ");
  }

  /** The last hit that a page may end at. */
  lastHit = (setup: Setup): number => Math.min(Number(setup.candidates) || 0, this.find("top_k")?.most ?? Infinity);

  /** At which control a refusal is shown; none where it is about nothing that has a control. */
  refusalOf({ errors = [] }: Partial<Problem>): { field: Name; message: string } | null {
    for (const { pointer = "", detail } of errors) {
      const [first = "", second] = pointer.split("/").slice(1);
      const near = this.options.filter(({ path }) => path[0] === first);
      const option = near.find(({ path }) => path[1] === second) ?? near[0];
      const field = OTHERWISE[first] ?? option?.name;
      if (field) return { field, message: detail };
    }
    return null;
  }
}

export const hitsOf = (answer: SearchAnswer | null | undefined): Hit[] => answer?.hits ?? [];
export const passagesOf = (answer: SearchAnswer | null | undefined): Passage[] => answer?.passages ?? [];

/** What a hit is known by in an answer: two generations may hold the same chunk. */
export const keyOf = (hit: Hit): string => `${hit.collection}@${hit.generation}/${hit.chunk_id}`;
