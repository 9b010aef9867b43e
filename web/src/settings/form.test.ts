import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "svelte/server";
import { findAliases, findKeys } from "./find.ts";
import type { Key, Kind, Value } from "./keys.ts";

globalThis.location = { pathname: "/", search: "?max_size=300" } as Location;
globalThis.sessionStorage = { getItem: () => null } as unknown as Storage;
const { default: Form } = await import("./Form.svelte");
const { Settings } = await import("./state.svelte.ts");

const choices = ["tree", "lines"].map((name) => ({ name, summary: `By \`${name}\`.` }));
const size: Kind = { kind: "number", least: 8, most: 999, unit: "size" };
const key = (name: string, group: string, kind: Kind, more: Partial<Key> = {}): Key => ({
  name,
  group,
  kind,
  help: `What ${name} does.`,
  ...more,
});
const keys = [
  key("max_size", "sizes", size),
  key("min_size", "sizes", size),
  key("strategy", "cuts", { kind: "choice", choices }),
  key("keep_whole", "cuts", { kind: "set", choices }),
  key("overlap_lines", "cuts", { ...size, unit: "" }, { strategy: "lines" }),
  key("band", "cuts", { kind: "range" }),
  key("merge", "rest", { kind: "boolean" }),
  key("kinds", "rest", { kind: "tables" }),
  key("by", "rest", { kind: "text" }),
];
const values: Record<string, Value> = {
  max_size: 250,
  min_size: 62,
  strategy: "tree",
  keep_whole: ["tree"],
  overlap_lines: 2,
  band: [410, 614],
  merge: true,
  kinds: [],
  by: "words",
};
const groups = ["sizes", "cuts", "rest"].map((name) => ({ name, title: `All ${name}` }));
const presets = [
  { name: "auto", summary: "Whatever fits.", aliases: [], settings: values },
  { name: "stable", summary: "The same ids.", aliases: ["max_chars", "chars_2", "chars_3"], settings: values },
  { name: "course", summary: "Lessons.", aliases: ["chars_4", "chars_5"], settings: values },
];

/** The form over what a collection has, and each key's part of it by its name. */
function form(set: Record<string, Value>, problems: Record<string, string> = {}) {
  const base = { values, follows: { min_size: "max_size" }, least: { preset: "auto", set }, problems };
  const settings = new Settings({ keys, groups, presets }, base);
  const { body } = render(Form, { props: { settings, ofCollection: true } });
  const text = body.replaceAll(/<!--.*?-->| class="svelte-\w+"/gu, "").replaceAll(/ svelte-\w+(?=[ "])/gu, "");
  const parts = text.split(/<div class="key[ "]/u).slice(1);
  const byName = new Map<string, string>();
  for (const part of parts) byName.set(/class="name"[^>]*>(\w+)/u.exec(part)?.[1] ?? "", part);
  return { text, names: [...byName.keys()], part: (name: string) => byName.get(name) ?? "" };
}

test("every key is in the form, in its group, and is entered as its kind is", () => {
  const { text, names, part } = form({});
  assert.deepEqual(
    names,
    keys.map(({ name }) => name),
  );
  assert.deepEqual(
    Array.from(text.matchAll(/<summary><span>(.*?)<\/span>/gu), ([, title]) => title),
    ["All sizes", "All cuts", "All rest"],
  );
  for (const [name, control] of [
    ["max_size", /type="number" min="8" max="999" step="1" value="300".*type="range" min="8"/u],
    ["strategy", /<option value="tree" selected="">.*<option value="lines">.*By <code>tree<\/code>/u],
    ["keep_whole", /type="checkbox" checked=""\/>tree<.*type="checkbox"\/>lines</u],
    ["band", /value="410".*value="614"/u],
    ["merge", /type="checkbox" checked=""/u],
    ["kinds", /<textarea.*>\[\]<\/textarea>/u],
    ["by", /type="text" value="words"/u],
  ] as const)
    assert.match(part(name), control);
});

test("a key says what it was, what it follows, what is wrong with it, and where nothing reads it", () => {
  const { text, part } = form({});
  assert.match(part("max_size"), /changed.*was 250.*Reset max_size/u);
  assert.match(part("min_size"), /follows max_size/u);
  assert.match(part("overlap_lines"), /only strategy lines reads it/u);
  assert.match(text, /All sizes<\/span> <span class="count">1 changed/u);
  assert.doesNotMatch(text, /role="alert"/u);
  const { part: wrong } = form({ max_size: 300 }, { band: "`band` is empty" });
  assert.match(wrong("band"), /role="alert"><code>band<\/code> is empty/u);
  assert.doesNotMatch(wrong("merge"), /role="alert"/u);
});

test("a key is found by its name, by what it does in the reader's language, and a preset by another system's name", () => {
  const found = (query: string) => findKeys(keys, query, { by: "Worte oder Zeichen" }).map(({ name }) => name);
  assert.deepEqual(found(""), Object.keys(values));
  assert.deepEqual(found("size_"), []);
  assert.deepEqual(found("_SIZE"), ["max_size", "min_size"]);
  assert.deepEqual(found("size max"), ["max_size"]);
  assert.deepEqual(found("zeichen"), ["by"]);
  assert.deepEqual(found("what merge"), ["merge"]);
  const aliases = (query: string) => findAliases(presets, query).map(({ alias, preset }) => `${alias}: ${preset}`);
  assert.deepEqual(aliases("Max_C"), ["max_chars: stable"]);
  assert.deepEqual(aliases("chars"), ["max_chars: stable", "chars_2: stable", "chars_3: stable", "chars_4: course"]);
  assert.deepEqual(aliases("ch"), []);
});
