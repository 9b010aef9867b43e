import assert from "node:assert/strict";
import { test } from "node:test";
import { toCommand, toCurl, toPython, toToml } from "./copies.ts";
import { choicesIn, type Key, type Values } from "./keys.ts";
import { followed, fromText, least, resolve, tidy, toText } from "./values.ts";

const auto: Values = {
  preset: "auto",
  unit: "tokens",
  max_size: 256,
  target_size: 200,
  min_size: 64,
  overlap_size: 0,
  short_size: 300,
  long_size: 800,
  medium_max_size: 512,
  medium_overlap_size: 100,
  keep_whole: [],
  band: [0, 0],
};
const presets = new Map([["auto", auto]]);
const size: Key = {
  name: "max_size",
  help: "",
  group: "sizes",
  kind: { kind: "number", least: 0, most: 9, unit: "size" },
};
const whole: Key = { name: "keep_whole", help: "", group: "blocks", kind: { kind: "set", choices: [] } };
const band: Key = { name: "band", help: "", group: "sizes", kind: { kind: "range" } };

test("sizes that are not set follow max_size in proportion", () => {
  const values = resolve(presets, { preset: "auto", set: { max_size: 250 } });
  assert.deepEqual(
    [values.target_size, values.min_size, values.short_size, values.medium_overlap_size],
    [195, 62, 292, 97],
  );
  assert.equal(followed(presets, { preset: "auto", set: { max_size: 250 } }, "min_size"), "max_size");
});

test("sizes follow the unit by four characters a token", () => {
  const values = resolve(presets, { preset: "auto", set: { unit: "chars" } });
  assert.deepEqual([values.max_size, values.target_size, values.long_size], [1024, 800, 3200]);
});

test("the least that has to be set leaves out what follows by itself", () => {
  const values = resolve(presets, { preset: "auto", set: { max_size: 250, min_size: 10 } });
  assert.deepEqual(least(presets, "auto", values).set, { max_size: 250, min_size: 10 });
  assert.deepEqual(tidy(presets, { preset: "auto", set: { max_size: 256, target_size: 200 } }).set, {});
});

test("values survive the address", () => {
  assert.equal(fromText(size, toText(size, 300)), 300);
  assert.equal(fromText(size, "3e5"), null);
  assert.deepEqual(fromText(whole, toText(whole, [])), []);
  assert.deepEqual(fromText(whole, "code,table"), ["code", "table"]);
  assert.deepEqual(fromText(band, "410-614"), [410, 614]);
});

test("choices are read from the engine's sentence", () => {
  assert.deepEqual(choicesIn("How: `a` (one (1)); `b` (two)"), [
    { name: "a", summary: "one (1)" },
    { name: "b", summary: "two" },
  ]);
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
