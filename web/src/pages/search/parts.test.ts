import assert from "node:assert/strict";
import { test } from "node:test";
import { sumOf, valuesOf } from "./parts.ts";
import type { Hit } from "./setup.ts";

const hit = (stages: object): Hit => stages as unknown as Hit;

test("a fused score is the sum of what the stages add", () => {
  const values = valuesOf(
    hit({ dense: { rank: 1, score: 0.5, contribution: 0.4 }, lexical: { rank: 2, score: 6, contribution: 0.3 } }),
  )!;
  assert.deepEqual(values, { lexical: 0.3, dense: 0.4 });
  assert.ok(Math.abs(sumOf(values) - 0.7) < 1e-9);
  assert.deepEqual(valuesOf(hit({ dense: { rank: 9, score: 0.1, contribution: 0 } })), { dense: 0 });
});

test("a stage that is not fused adds nothing, and hits that were not fused have no parts", () => {
  assert.deepEqual(
    valuesOf(hit({ dense: { rank: 1, score: 0.5 }, lexical: { rank: 2, score: 6, contribution: 0.6 } })),
    { lexical: 0.6 },
  );
  assert.equal(valuesOf(hit({ lexical: { rank: 2, score: 6 } })), null);
  assert.equal(valuesOf(hit({})), null);
});
