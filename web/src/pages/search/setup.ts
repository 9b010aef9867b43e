// What a search is asked with: as the address of the page says it, and as the API takes it. Two of them stand side by side
// when configurations are compared; the second one's parameters begin with `b_`.

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
export const STAGES = ["lexical", "dense", "sparse"] as const;
export type StageName = (typeof STAGES)[number];

/** Parameters of the address, each with what it is without one. Their names are those of configuration where it has them. */
export const DEFAULTS = {
  c: "",
  mode: "hybrid",
  filter: "",
  top_k: "10",
  min_relevance: "",
  fusion: "sum",
  dense_weight: "0.4",
  sparse_weight: "0.333",
  rrf_k: "60",
  candidates: "200",
  rerank: "50",
  per_document: "",
  duplicates: "collapse",
  collapse_translations: "",
  expand: "",
  expand_tokens: "",
  max_tokens: "",
  all_versions: "",
  text: "",
} as const;
export type Name = keyof typeof DEFAULTS;
export type Setup = Record<Name, string>;
export const NAMES = Object.keys(DEFAULTS) as Name[];

/** What the panel of further options holds. */
export const FURTHER: Name[] = [
  "fusion",
  "dense_weight",
  "sparse_weight",
  "rrf_k",
  "candidates",
  "rerank",
  "per_document",
  "duplicates",
  "collapse_translations",
  "expand",
  "expand_tokens",
  "max_tokens",
  "all_versions",
  "text",
];

/** The parameter of the address that holds a value of a side. */
export const paramOf = (side: Side, name: Name): string => (side === "b" ? `b_${name}` : name);

/** A side's values: those of the address over the defaults. */
export function setupOf(query: URLSearchParams, side: Side): Setup {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(paramOf(side, name)) ?? DEFAULTS[name]])) as Setup;
}

/** What an address has to say of a value; null for nothing, because it is the default. */
export const toParam = (name: Name, value: string): string | null => (value === DEFAULTS[name] ? null : value);

/** Values that are not the default. */
export const changed = (setup: Setup, names: Name[] = NAMES): Name[] =>
  names.filter((name) => setup[name] !== DEFAULTS[name]);

/** Values that two sides do not share. */
export const differences = (a: Setup, b: Setup): Name[] => NAMES.filter((name) => a[name] !== b[name]);

export const collectionsOf = ({ c }: Setup): string[] => c.split(",").filter(Boolean);

const count = (text: string): number | null => (text === "" ? null : Number(text));

function fusionOf({ fusion, rrf_k, dense_weight, sparse_weight }: Setup): Schemas["FusionInput"] {
  if (fusion === "rrf") return { method: "rrf", k: Number(rrf_k) };
  // What the page shows of the default is rounded.
  return {
    method: "weighted_sum",
    dense_weight: Number(dense_weight),
    sparse_weight: sparse_weight === DEFAULTS.sparse_weight ? 1 / 3 : Number(sparse_weight),
  };
}

/** The request that a setup makes. Numbers out of range go as they are: the server says what would be right. */
export function requestOf(query: string, setup: Setup, offset = 0): SearchRequest {
  const collections = collectionsOf(setup);
  const expand = setup.expand && { with: setup.expand, max_tokens: count(setup.expand_tokens) };
  return {
    query,
    collections,
    all_collections: collections.length === 0,
    mode: setup.mode as Mode,
    top_k: Number(setup.top_k),
    offset,
    filter: setup.filter || null,
    all_versions: setup.all_versions !== "",
    fusion: fusionOf(setup),
    candidates: Number(setup.candidates),
    rerank: Number(setup.rerank),
    per_document: count(setup.per_document),
    duplicates: setup.duplicates as "collapse" | "keep",
    collapse_translations: setup.collapse_translations !== "",
    text: setup.text !== "",
    min_relevance: count(setup.min_relevance),
    expand: expand || null,
    max_tokens: count(setup.max_tokens),
  };
}

/** What of a request is not the default of the API: what a person would write. */
export function essential(request: SearchRequest): Partial<SearchRequest> {
  const usual: Partial<SearchRequest> = {
    collections: [],
    all_collections: false,
    mode: "hybrid",
    top_k: 5,
    offset: 0,
    filter: null,
    all_versions: false,
    candidates: 200,
    rerank: 50,
    per_document: null,
    duplicates: "collapse",
    collapse_translations: false,
    text: false,
    min_relevance: null,
    expand: null,
    max_tokens: null,
    fusion: { method: "weighted_sum", dense_weight: 0.4, sparse_weight: 1 / 3 },
  };
  const isUsual = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) === JSON.stringify(usual[name as keyof SearchRequest]);
  return Object.fromEntries(Object.entries(request).filter((entry) => !isUsual(entry)));
}

const quoted = (text: string): string => (/^[\w@./:-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export const asCurl = (request: SearchRequest, origin: string): string =>
  `curl ${origin}/api/v1/search --json ${quoted(JSON.stringify(essential(request)))}`;

/** The search as a command. `text` and the tokens of an expansion have other names there. */
export function asCommand(request: SearchRequest): string {
  // What begins with a dash is no flag behind `--`.
  const isFlag = request.query.startsWith("-");
  const out = ["chunkwright", "search", ...(isFlag ? [] : [quoted(request.query)])];
  const add = (flag: string, value?: unknown) =>
    out.push(
      `--${flag}`,
      ...(value === undefined ? [] : [quoted(typeof value === "string" ? value : JSON.stringify(value))]),
    );
  const wanted = essential(request);
  if (request.all_collections) add("all-collections");
  for (const name of request.collections) add("collection", name);
  if (wanted.mode) add("mode", wanted.mode);
  if (wanted.top_k !== undefined) add("top-k", wanted.top_k);
  if (wanted.offset) add("offset", wanted.offset);
  if (wanted.filter) add("filter", wanted.filter);
  if (wanted.min_relevance !== undefined) add("min-relevance", wanted.min_relevance);
  if (wanted.fusion?.method === "rrf") {
    add("fusion", "rrf");
    add("rrf-k", wanted.fusion.k);
  } else if (wanted.fusion) {
    add("dense-weight", wanted.fusion.dense_weight);
    if (wanted.fusion.sparse_weight !== 1 / 3) add("sparse-weight", wanted.fusion.sparse_weight);
  }
  if (wanted.candidates !== undefined) add("candidates", wanted.candidates);
  if (wanted.rerank !== undefined) add("rerank", wanted.rerank);
  if (wanted.per_document !== undefined) add("per-document", wanted.per_document);
  if (wanted.duplicates) add("keep-duplicates");
  if (wanted.collapse_translations) add("collapse-translations");
  if (wanted.expand) add("expand", wanted.expand.with);
  if (wanted.expand?.max_tokens) add("expand-tokens", wanted.expand.max_tokens);
  if (wanted.max_tokens !== undefined) add("max-tokens", wanted.max_tokens);
  if (wanted.all_versions) add("all-versions");
  if (isFlag) out.push("--", quoted(request.query));
  return out.join(" ");
}

export const hitsOf = (answer: SearchAnswer | null | undefined): Hit[] => answer?.hits ?? [];
export const passagesOf = (answer: SearchAnswer | null | undefined): Passage[] => answer?.passages ?? [];

/** What a hit is known by in an answer: two generations may hold the same chunk. */
export const keyOf = (hit: Hit): string => `${hit.collection}@${hit.generation}/${hit.chunk_id}`;

/** The last hit that a page may end at. */
export const lastHit = (setup: Setup): number => Math.min(Number(setup.candidates) || 0, 1000);

/** The controls of members of a request that are called otherwise, by the members' JSON pointers. */
const CONTROLS: Record<string, Name | "q"> = {
  query: "q",
  collections: "c",
  offset: "candidates",
  "fusion/k": "rrf_k",
  "fusion/dense_weight": "dense_weight",
  "fusion/sparse_weight": "sparse_weight",
  "expand/max_tokens": "expand_tokens",
};

/** At which control a refusal is shown; none where it is about nothing that has a control. */
export function refusalOf({ errors = [] }: Partial<Problem>): { field: Name | "q"; message: string } | null {
  for (const { pointer = "", detail } of errors) {
    const [first = "", second = ""] = pointer.split("/").slice(1);
    const field = CONTROLS[`${first}/${second}`] ?? CONTROLS[first] ?? NAMES.find((name) => name === first);
    if (field) return { field, message: detail };
  }
  return null;
}
