import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, evenRanges, type Range } from "./ranges.ts";

const statistics = (count: number, max: number, p99 = max) =>
  ({ tokens: { count, max, p99 } }) as Parameters<typeof evenRanges>[0];

test("ranges cover every size, and their border is a multiple of their width", () => {
  for (const [max, limit] of [
    [256, 256],
    [9000, 256],
    [12, null],
    [700, null],
    [1, 8],
  ] as const) {
    const ranges = evenRanges(statistics(50, max), limit)!;
    assert.equal(ranges[0]!.from, 0);
    ranges.forEach(({ from }, at) => at > 0 && assert.equal(from, ranges[at - 1]!.to! + 1));
    const last = ranges.at(-1)!;
    assert.ok(last.to === null || last.to >= max, `${max} ${limit}`);
    if (limit) assert.ok(last.to === limit || last.from === limit + 1, "the axis ends at the limit");
    assert.ok(ranges.length <= 25);
  }
});

test("what is far over the limit shares the last bar", () =>
  assert.equal(evenRanges(statistics(50, 9000), 256)!.at(-1)!.to, null));

test("nothing is counted where there is nothing", () => {
  assert.equal(evenRanges(statistics(0, 0), 256), null);
});

test("a choice of sizes becomes bars and is none without one", () => {
  const ranges: Range[] = [
    { from: 0, to: 15, count: 1 },
    { from: 16, to: 31, count: 1 },
    { from: 32, to: null, count: 1 },
  ];
  assert.equal(barsOf(ranges, null, null), null);
  assert.deepEqual(barsOf(ranges, 16, 31), [1, 1]);
  assert.deepEqual(barsOf(ranges, null, 15), [0, 0]);
  assert.deepEqual(barsOf(ranges, 20, null), [1, 2]);
  assert.deepEqual(barsOf(ranges, 500, 900), [2, 2]);
});
