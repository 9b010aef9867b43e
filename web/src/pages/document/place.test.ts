import assert from "node:assert/strict";
import { test } from "node:test";
import { lay } from "../../chunks/layout.ts";
import type { Chunk } from "../../chunks/types.ts";
import { bytesOf, isInside, lineOf, middleOf, pieces, placeAt, positionOf } from "./place.ts";

const laid = (source: string) =>
  lay(source, [{ start_char: 0, end_char: Array.from(source).length, context: "" } as Chunk]);

test("places are lines and characters, and back", () => {
  const layout = laid("first 🍵 line\r\n第二行。还有。\n\nlast");
  for (const [line, character, place] of [
    [1, 1, 0],
    [1, 8, 8],
    [2, 1, 15],
    [2, 5, 19],
    [4, 1, 24],
  ] as const) {
    assert.equal(placeAt(layout, line, character), place);
    assert.deepEqual(positionOf(layout, place), [line, character]);
  }
  assert.equal(placeAt(layout, 99, 1), layout.lineStart[3]);
  assert.equal(lineOf(layout, layout.source.length), 3);
});

test("a place has text of the chunk on both sides", () => {
  const layout = laid("one\n\ntwo\n");
  assert.deepEqual(
    [0, 3, 4, 5, 6, 8, 9].map((place) => isInside(layout, 0, place)),
    [false, true, true, true, true, false, false],
  );
  assert.deepEqual(pieces(layout, 0, 5), ["one\n\n", "two\n"]);
});

test("what is proposed is a line, else a sentence, else the middle", () => {
  assert.equal(middleOf(laid("one\ntwo\n\nthree three\nfour"), 0), 9);
  assert.equal(middleOf(laid("one\ntwo\n\nthree three\nfour"), 0, new Set([2, 99])), 4);
  assert.equal(middleOf(laid("茶很好。水很热。请喝。"), 0), 4);
  assert.equal(middleOf(laid("a🍵🍵b"), 0), 3);
});

test("bytes are those of UTF-8", () => assert.equal(bytesOf("aß茶🍵"), 1 + 2 + 3 + 4));
