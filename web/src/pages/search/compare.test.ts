import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./compare.ts";
import type { Hit } from "./setup.ts";

const hits = (...ids: string[]): Hit[] =>
  ids.map(
    (id, at) =>
      ({
        collection: "c",
        generation: 1,
        chunk_id: id,
        doc_id: id[0],
        rank: at + 1,
        start_byte: 10 * Number(id[1] ?? 0),
        end_byte: 10 * Number(id[1] ?? 0) + 15,
      }) as unknown as Hit,
  );

test("what moved is counted in ranks, from the side that is looked at", () => {
  const { a, b, both, onlyA, onlyB, sameFirst } = compare(hits("x", "y", "z"), hits("x", "z", "w"));
  assert.deepEqual(a, [{ kind: "same" }, { kind: "only" }, { kind: "moved", by: -1 }]);
  assert.deepEqual(b, [{ kind: "same" }, { kind: "moved", by: 1 }, { kind: "only" }]);
  assert.deepEqual([both, onlyA, onlyB, sameFirst], [2, 1, 1, true]);
});

test("the same lines in another chunk are known, and are alike", () => {
  const { a, recut, onlyA, onlyB } = compare(hits("d1"), hits("e1", "d2"));
  assert.deepEqual(a, [{ kind: "recut", rank: 2 }]);
  assert.deepEqual([recut, onlyA, onlyB], [1, 0, 1]);
  assert.equal(compare(hits("d1"), hits("d2")).sameFirst, true);
  assert.equal(compare(hits("d1"), hits("d2")).likeness, 1);
});

test("likeness is 1 for the same ranking and 0 for nothing in common", () => {
  assert.equal(compare(hits("x", "y"), hits("x", "y")).likeness, 1);
  assert.equal(compare(hits("x"), hits("y")).likeness, 0);
  assert.equal(compare([], []).likeness, 1);
});
