import assert from "node:assert/strict";
import { test } from "node:test";
import { Heights } from "./heights.ts";

test("a row is found by its distance from the top, and back", () => {
  const heights = new Heights(1000, (at) => 10 + (at % 7));
  for (let at = 0; at < 1000; at += 13) {
    assert.equal(heights.at(heights.top(at)), at);
    assert.equal(heights.at(heights.top(at) + heights.of(at) - 0.5), at);
  }
});

test("a height that was measured moves all rows below it", () => {
  const heights = new Heights(100, () => 20);
  assert.equal(heights.set(40, 65), 45);
  assert.equal(heights.top(40), 800);
  assert.equal(heights.top(41), 865);
  assert.equal(heights.total, 2045);
});

test("a list without rows has no height", () => {
  const heights = new Heights(0, () => 20);
  assert.equal(heights.total, 0);
  assert.equal(heights.at(100), 0);
});
