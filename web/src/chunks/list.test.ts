import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "svelte/server";
import ChunkList from "./ChunkList.svelte";
import type { Chunk, Rows } from "./types.ts";

globalThis.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const chunk = (at: number) =>
  ({
    chunk_id: String(at),
    doc_id: `${at}.md`,
    chunk_index: at,
    content: `Text ${at}.`,
    text: `Text ${at}.`,
    context: "",
    section_path: [] as string[],
    cut: "full",
    token_count: 3,
    char_count: 7,
    word_count: 2,
    token_level: "normal",
    start_line: 1,
    end_line: 1,
    content_type: "paragraph",
  }) as unknown as Chunk;

test("a list of which little is loaded has a place for every chunk, and says which are on their way", () => {
  const chunks: Rows = { length: 10_000, at: (position) => (position < 2 ? chunk(position) : undefined) };
  const { body } = render(ChunkList, { props: { chunks, limit: 100 } });
  assert.match(body, /aria-rowcount="10000"/u);
  const height = Number(/height: ?(\d+)px/u.exec(body)?.[1]);
  assert.ok(height > 10_000 * 40, `${height} pixels`);
  const rows = Array.from(body.matchAll(/role="row"[^>]*>/gu), ([row]) => row);
  assert.ok(rows.length > 2 && rows.length < 20, `${rows.length} rows`);
  assert.deepEqual(
    rows.map((row) => [Number(/aria-rowindex="(\d+)"/u.exec(row)?.[1]), row.includes('aria-busy="true"')]),
    rows.map((_, at) => [at + 1, at >= 2]),
  );
  assert.ok(body.includes("Text 1.") && !body.includes("undefined"));
});
