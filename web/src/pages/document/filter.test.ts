import assert from "node:assert/strict";
import { test } from "node:test";
import { lay } from "../../chunks/layout.ts";
import type { Chunk } from "../../chunks/types.ts";
import { findInSource, fold, passing, type Filter } from "./filter.ts";

const source = "Über den Fluss.\nПаром уходит в семь.\n渡轮七点出发。\nThe ferry leaves.";
const spans = [
  [0, 15],
  [16, 36],
  [37, 44],
  [45, 62],
] as const;
const chunks = spans.map(
  ([start_char, end_char], chunk_index) =>
    ({
      chunk_id: `${chunk_index}`.repeat(32),
      chunk_index,
      start_char,
      end_char,
      context: "",
      content: source.slice(start_char, end_char),
      section_path: chunk_index === 3 ? ["Harbour"] : [],
      token_count: 10 * (chunk_index + 1),
      token_level: "normal",
      cut: chunk_index ? "full" : "document",
      enabled: chunk_index !== 2,
    }) as unknown as Chunk,
);
const layout = lay(source, chunks);
const all: Filter = { text: "", show: "all", cut: "", levels: new Set(), size: null };
const pass = (filter: Partial<Filter>) =>
  passing(
    chunks,
    layout,
    () => fold(source),
    new Map(),
    { ...all, ...filter },
    ({ token_count }) => token_count,
  );

test("text is found in any script and case", () => {
  assert.deepEqual(pass({ text: "über" }), [0]);
  assert.deepEqual(pass({ text: "ПАРОМ" }), [1]);
  assert.deepEqual(pass({ text: "渡轮" }), [2]);
  assert.deepEqual(pass({ text: "harbour" }), [3]);
  assert.deepEqual(pass({ text: "#2" }), [2]);
});

test("what crosses a border is in neither chunk", () => {
  assert.deepEqual(pass({ text: "fluss.\nпаром" }), []);
});

test("a text in two windows that overlap is in both", () => {
  assert.deepEqual(
    [...findInSource("abcdef", "cd", { start: Uint32Array.of(0, 2), end: Uint32Array.of(4, 6) })],
    [0, 1],
  );
});

test("lower case keeps positions", () => {
  assert.equal(fold("İstanbul x").indexOf("x"), "İstanbul x".indexOf("x"));
});

test("chunks pass by state, cut and size", () => {
  assert.deepEqual(pass({ show: "disabled" }), [2]);
  assert.deepEqual(pass({ show: "enabled" }), [0, 1, 3]);
  assert.deepEqual(pass({ cut: "document" }), [0]);
  assert.deepEqual(pass({ size: [20, 30] }), [1, 2]);
  assert.deepEqual(pass({ size: [30, null] }), [2, 3]);
});
