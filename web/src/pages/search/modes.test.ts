import assert from "node:assert/strict";
import { test } from "node:test";
import { lackingOf } from "./modes.ts";

const of = (...models: (boolean | null)[]) =>
  lackingOf(models.map((sparse) => (sparse === null ? {} : { model: { name: "m", dimension: 8, sparse } })));

test("a mode is there if one of the collections has it", () => {
  assert.deepEqual(of(null), { dense: "model", sparse: "model" });
  assert.deepEqual(of(null, false), { sparse: "sparse" });
  assert.deepEqual(of(false, true), {});
  assert.deepEqual(of(), {}, "of what is not known, nothing is lacking");
});
