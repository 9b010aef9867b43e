import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chunk } from "../../chunks/types.ts";
import { binsOfBoth, compare } from "./compare.ts";
import { sourceFor } from "./source.ts";

const chunk = (chunk_id: string, text: string, token_count = 10, more: Partial<Chunk> = {}) =>
  ({ chunk_id, text, content: text, token_count, char_count: 40, ...more }) as Chunk;

test("ids are kept, new and gone, and a text is embedded once", () => {
  const { kept, fresh, gone, texts, tokens } = compare(
    [chunk("a", "A"), chunk("b", "B")],
    [chunk("a", "A"), chunk("c", "C"), chunk("d", "C"), chunk("e", "B")],
  );
  assert.deepEqual(
    { kept, fresh, gone, texts, tokens },
    { kept: [0], fresh: [1, 2, 3], gone: [1], texts: 1, tokens: 10 },
  );
});

test("sizes of both sides are in the same bins", () => {
  const bins = binsOfBoth(
    [chunk("a", "A", 90)],
    [chunk("b", "B", 10), chunk("c", "C", 12)],
    "tokens",
    100,
    (level) => level,
  );
  assert.equal(
    bins.reduce((sum, { count }) => sum + count, 0),
    2,
  );
  assert.equal(
    bins.reduce((sum, { before = 0 }) => sum + before, 0),
    1,
  );
});

test("a source that was not sent is made of its chunks", () => {
  const at = (content: string, start_char: number, start_line: number) =>
    chunk(content, content, 1, { start_char, end_char: start_char + content.length, start_line });
  const chunks = [at("# A", 0, 1), at("текст", 5, 3)];
  assert.equal(sourceFor(null, chunks), "# A\n\nтекст");
  assert.equal(sourceFor("# A\r\rтекст", chunks), "# A\r\rтекст");
  assert.equal(sourceFor("something else", chunks), "# A\n\nтекст");
});
