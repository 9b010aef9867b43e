import assert from "node:assert/strict";
import { test } from "node:test";
import { toCommand, toCurl, toPython, toToml } from "./copies.ts";
import { groupsOf, keysOf, type Key, type Schema } from "./keys.ts";
import { fromText, idle, resolvedOf, toText } from "./values.ts";

const size: Key = {
  name: "max_size",
  help: "",
  group: "sizes",
  kind: { kind: "number", least: 0, most: 9, unit: "size" },
};
const whole: Key = { name: "keep_whole", help: "", group: "blocks", kind: { kind: "set", choices: [] } };
const band: Key = { name: "band", help: "", group: "sizes", kind: { kind: "range" } };

const answer = (least: Record<string, unknown>, pointers: string[] = []) =>
  resolvedOf({
    settings: [
      { key: "max_size", value: 250, origin: "" },
      { key: "min_size", value: 62, origin: "", follows: "max_size" },
    ],
    least: { preset: "auto", ...least },
    problems: pointers.map((pointer) => ({ pointer, detail: "no" })),
  });

test("what the engine says of a configuration is known by key", () => {
  const { values, follows, least, problems } = answer({ max_size: 250 }, ["#/settings/min_size", "#/settings/a%20b"]);
  assert.deepEqual(values, { max_size: 250, min_size: 62 });
  assert.deepEqual([follows["max_size"], follows["min_size"]], [undefined, "max_size"]);
  assert.deepEqual(least, { preset: "auto", set: { max_size: 250 } });
  assert.deepEqual(problems, { min_size: "no", "a b": "no" });
});

test("what is set in vain is left out, and what is wrong or needed stays", () => {
  const auto = { preset: "auto", set: {} };
  assert.deepEqual(idle(answer({ max_size: 250 }), auto, { max_size: 250, min_size: 62 }), ["min_size"]);
  assert.deepEqual(idle(answer({}, ["#/settings/min_size"]), auto, { max_size: 256, min_size: 9999 }), ["max_size"]);
  // A value of the base is not left out by being that of the preset.
  const below = { preset: "auto", set: { max_size: 300 } };
  assert.deepEqual(idle(answer({}), below, { max_size: 256 }), []);
  // Where the least says something else, nothing can be left out alone.
  assert.deepEqual(idle(answer({ max_size: 250 }), auto, { unit: "tokens", min_size: 62 }), []);
});

test("keys, choices and groups are those of the schema, also those that are new", () => {
  const schema: Schema = {
    "x-groups": [
      { name: "sizes", title: "Sizes" },
      { name: "none", title: "Without keys" },
    ],
    properties: {
      preset: { type: "string" },
      strategy: { type: "string", anyOf: [{ const: "tree", description: "by sections" }, {}], "x-group": "cuts" },
      max_size: { type: "integer", minimum: 8, maximum: 99, "x-unit": "size", "x-group": "sizes" },
      keep: { type: "array", items: { type: "string", oneOf: [{ const: "code", description: "fences" }] } },
      lines: { type: "integer", "x-strategy": "lines", description: "One.\n\nTwo." },
      hidden: { type: "boolean" },
    },
  };
  const settings = { preset: "auto", strategy: "tree", max_size: 9, keep: [], lines: 5 };
  const keys = keysOf(schema, [{ name: "auto", summary: "", aliases: [], settings }]);
  assert.deepEqual(
    keys.map(({ name, kind }) => [name, kind]),
    [
      ["strategy", { kind: "choice", choices: [{ name: "tree", summary: "by sections" }] }],
      ["max_size", { kind: "number", least: 8, most: 99, unit: "size" }],
      ["keep", { kind: "set", choices: [{ name: "code", summary: "fences" }] }],
      ["lines", { kind: "number", least: 0, most: Number.MAX_SAFE_INTEGER, unit: "" }],
    ],
  );
  assert.equal(keys[3]?.strategy, "lines");
  assert.deepEqual(
    groupsOf(schema, keys).map(({ name, title }) => `${name}: ${title}`),
    ["sizes: Sizes", "cuts: cuts", ": "],
  );
});

test("values survive the address", () => {
  assert.equal(fromText(size, toText(size, 300)), 300);
  assert.equal(fromText(size, "3e5"), null);
  assert.deepEqual(fromText(whole, toText(whole, [])), []);
  assert.deepEqual(fromText(whole, "code,table"), ["code", "table"]);
  assert.deepEqual(fromText(band, "410-614"), [410, 614]);
});

test("settings are copied as other places read them", () => {
  const chosen = {
    preset: "auto",
    set: { max_size: 300, keep_whole: ["code"], kinds: [{ name: "api", paths: ["**/api/**"] }] },
  };
  assert.equal(
    toToml(chosen),
    'preset = "auto"\nmax_size = 300\nkeep_whole = ["code"]\n\n[[kinds]]\nname = "api"\npaths = ["**/api/**"]\n',
  );
  assert.equal(
    toCommand(chosen, [size, whole], "a b.md").command,
    "chunkwright chunk 'a b.md' --preset auto --max-size 300 --keep-whole code",
  );
  assert.equal(
    toCommand({ preset: "auto", set: { keep_whole: [] } }, [whole], "a.md").command,
    "chunkwright chunk a.md --preset auto --keep-whole ''",
  );
  assert.match(toCurl({ preset: "auto", set: {} }, "http://h", { collection: "it's" }), /"collection":"it'\\''s"/u);
  assert.match(
    toPython(chosen, "a.md"),
    /Chunker\(preset="auto", max_size=300, keep_whole=\["code"\], kinds=\[\{"name": "api"/u,
  );
});
