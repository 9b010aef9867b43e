import assert from "node:assert/strict";
import { test } from "node:test";
import { chunkOfLine, lay, ROW, rowOfLine, segments, toUtf16 } from "./layout.ts";
import type { Chunk } from "./types.ts";
import { runs } from "./unseen.ts";

/** Chunks of a text by where they begin and end in characters. */
function chunksOf(source: string, spans: [number, number, string?][]): Chunk[] {
  const points = Array.from(source);
  return spans.map(
    ([start_char, end_char, context = ""], chunk_index) =>
      ({ chunk_index, start_char, end_char, context, content: points.slice(start_char, end_char).join("") }) as Chunk,
  );
}
const textOf = (layout: ReturnType<typeof lay>, row: number) => layout.source.slice(layout.from[row], layout.to[row]);

test("characters beyond the basic plane move offsets by two units", () => {
  assert.deepEqual(toUtf16("a😀b😀c", [0, 1, 2, 3, 4, 5]), [0, 1, 3, 4, 6, 7]);
  assert.deepEqual(toUtf16("по-русски", [0, 3]), [0, 3]);
});

test("a row is a line of one chunk", () => {
  const layout = lay(
    "one\ntwo\n\nthree\n",
    chunksOf("one\ntwo\n\nthree\n", [
      [0, 7],
      [9, 14],
    ]),
  );
  assert.equal(layout.lines, 4);
  assert.deepEqual(
    Array.from({ length: layout.count }, (_, row) => textOf(layout, row)),
    ["one", "two", "", "three"],
  );
  assert.deepEqual(Array.from(layout.chunk), [0, 0, -1, 1]);
  assert.deepEqual([layout.firstRow[1], layout.lastRow[0]], [3, 1]);
});

test("a line is divided where a chunk begins inside it", () => {
  const source = "First sentence. Second sentence.";
  const layout = lay(
    source,
    chunksOf(source, [
      [0, 15],
      [16, 32],
    ]),
  );
  assert.deepEqual(
    Array.from({ length: layout.count }, (_, row) => textOf(layout, row)),
    ["First sentence. ", "Second sentence."],
  );
  assert.deepEqual(Array.from(layout.line), [0, 0]);
});

test("a line without end is many rows, and no pair of surrogates is torn", () => {
  const source = "😀".repeat(2 * ROW);
  const layout = lay(source, chunksOf(source, [[0, 2 * ROW]]));
  assert.ok(layout.count >= 4);
  assert.equal(Array.from({ length: layout.count }, (_, row) => textOf(layout, row)).join(""), source);
  assert.ok(
    Array.from({ length: layout.count }, (_, row) => textOf(layout, row)).every(
      (text) => !/^[\udc00-\udfff]/u.test(text),
    ),
  );
});

test("lines end at CR, LF and CRLF", () => {
  const layout = lay("a\rb\r\nc\nd", []);
  assert.deepEqual(
    Array.from({ length: layout.count }, (_, row) => textOf(layout, row)),
    ["a", "b", "c", "d"],
  );
});

test("what the next chunk borrows of the source is known", () => {
  const source = "The first window ends with these words here. And the second begins.";
  const layout = lay(
    source,
    chunksOf(source, [
      [0, 44],
      [45, 67, "with these words here. "],
    ]),
  );
  const marked = segments(layout, 0, null, [], runs)
    .filter(({ borrower }) => borrower === 1)
    .map(({ text }) => text)
    .join("");
  assert.equal(marked.trim(), "with these words here.");
});

test("lines and chunks are found from each other", () => {
  const source = Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n");
  const layout = lay(
    source,
    chunksOf(source, [
      [0, 100],
      [101, source.length],
    ]),
  );
  assert.equal(layout.line[rowOfLine(layout, 321)], 321);
  assert.equal(chunkOfLine(layout, 0), 0);
  assert.equal(chunkOfLine(layout, 400), 1);
});

test("a hundred thousand lines are laid out in a moment", () => {
  const source = "some text of a line\n".repeat(100_000);
  const layout = lay(source, chunksOf(source.slice(0, 2000), [[0, 2000]]));
  assert.equal(layout.count, 100_000);
});
