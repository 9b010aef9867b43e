import assert from "node:assert/strict";
import { test } from "node:test";
import { rankParts, sumParts } from "./parts.ts";
import type { Hit } from "./setup.ts";

type Stages = { dense?: [number, number]; lexical?: [number, number]; sparse?: [number, number]; reranked?: boolean };
const hit = (score: number, { reranked, ...stages }: Stages): Hit =>
  ({
    score, kept: "both", ...(reranked && { rerank: { rank: 1, score } }),
    ...Object.fromEntries(Object.entries(stages).map(([name, [rank, score]]) => [name, { rank, score }])),
  }) as unknown as Hit;
const round = (values: object) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number((value as number).toFixed(6))]));
const ranges = { dense: { least: 0, greatest: 0.5 }, lexical: { least: 1, greatest: 11 } };

test("a weighted sum is the parts of its stages", () => {
  const hits = [hit(0.4 * 1 + 0.6 * 0.5, { dense: [1, 0.5], lexical: [2, 6] }), hit(0.6, { lexical: [1, 11] }), hit(0.2, { dense: [2, 0.25] })];
  const parts = sumParts(hits, ranges, 0.4, 1 / 3)!;
  assert.deepEqual(round(parts.of(hits[0]!)), { lexical: 0.3, dense: 0.4 });
  assert.deepEqual(round(parts.of(hits[1]!)), { lexical: 0.6 });
  assert.equal(parts.most, 1);
});

test("a model that reads a part of the query weighs less, and one that reads none nothing", () => {
  const half = [hit(0.2 * 1 + 0.8 * 0.5, { dense: [1, 0.5], lexical: [2, 6] }), hit(0.8 * 1 + 0.2 * 0.2, { dense: [5, 0.1], lexical: [1, 11] })];
  assert.deepEqual(round(sumParts(half, ranges, 0.4, 1 / 3)!.weights), { dense: 0.2, lexical: 0.8 });
  const none = [hit(0.3, { dense: [1, 0.5], lexical: [2, 6] }), hit(0.6, { dense: [9, 0.1], lexical: [1, 11] })];
  assert.deepEqual(round(sumParts(none, ranges, 0.4, 1 / 3)!.weights), { lexical: 0.6 });
});

test("scores that no weights explain have no parts", () => {
  assert.equal(sumParts([hit(0.9, { dense: [1, 0.5], lexical: [2, 6] }), hit(0.1, { dense: [2, 0.4], lexical: [1, 11] })], ranges, 0.4, 1 / 3), null);
});

test("ranks make the parts of reciprocal rank fusion", () => {
  const hits = [hit(1 / 61 + 1 / 62, { dense: [1, 0.5], lexical: [2, 6] }), hit(0.9, { dense: [4, 0.1], reranked: true })];
  const parts = rankParts(hits, 60, ["lexical", "dense"])!;
  assert.deepEqual(round(parts.of(hits[0]!)), round({ lexical: 1 / 62, dense: 1 / 61 }));
  assert.deepEqual(round(parts.of(hits[1]!)), round({ dense: 1 / 64 }));
});
