import assert from "node:assert/strict";
import { test } from "node:test";
import { binsOf } from "./bins.ts";

const check = (
  sizes: number[],
  limit: number,
  first: [number, number | null, number],
  last: [number, number | null, number],
) => {
  const bins = binsOf(sizes, limit, "tokens", (level) => level);
  const edges = bins.map(({ from, to, count }) => [from, to, count] as const);
  assert.deepEqual([edges[0], edges.at(-1)], [first, last]);
  assert.equal(
    bins.reduce((sum, { count }) => sum + count, 0),
    sizes.length,
  );
};

test("the axis ends at the limit, however small the chunks are", () => {
  check([10, 12], 256, [0, 9, 0], [250, 256, 0]);
  check([1, 1800], 1800, [0, 99, 1], [1700, 1800, 1]);
  check([1], 1, [0, 1, 1], [0, 1, 1]);
});

test("whatever is over the limit shares a bar behind it", () =>
  check([256, 257, 9000], 256, [0, 9, 0], [257, null, 2]));
