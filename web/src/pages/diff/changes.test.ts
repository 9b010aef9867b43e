import assert from "node:assert/strict";
import { test } from "node:test";
import { affected, byDocument, filtered, type Change, type Overlay } from "./changes.ts";
import { compareWords, shortened } from "./words.ts";

const place = (chunk_id: string, token_count = 5) => ({
  chunk_id,
  chunk_index: 0,
  start_line: 1,
  end_line: 2,
  token_count,
});
const changes: Change[] = [
  { kind: "kept", doc_id: "a.md", header_path: "", old: place("1"), new: place("1"), embed: false },
  { kind: "changed", doc_id: "a.md", header_path: "", old: place("2"), new: place("3"), embed: true },
  { kind: "removed", doc_id: "b.md", header_path: "", old: place("4"), embed: false },
];

test("changes are counted by document", () => {
  const documents = byDocument(changes);
  assert.deepEqual(
    documents.map(({ doc_id, counts, tokens }) => [doc_id, counts.kept, counts.changed, counts.removed, tokens]),
    [
      ["a.md", 1, 1, 0, 5],
      ["b.md", 0, 0, 1, 0],
    ],
  );
  assert.deepEqual(
    filtered(documents, new Set(["removed"]), "").map(({ doc_id }) => doc_id),
    ["b.md"],
  );
  assert.deepEqual(
    filtered(documents, new Set(), "A.").map(({ doc_id }) => doc_id),
    ["a.md"],
  );
});

test("changes by hand are affected where their chunk changes", () => {
  const overlays = [{ chunk_id: "1" }, { chunk_id: "9", on: "2" }, { chunk_id: "4" }] as Overlay[];
  assert.deepEqual(
    affected(overlays, changes).map(({ overlay }) => overlay.chunk_id),
    ["9", "4"],
  );
});

test("words of any language are compared", async () => {
  const kinds = async (a: string, b: string) =>
    (await compareWords(a, b)).filter(({ kind }) => kind !== "same").map(({ text, kind }) => `${kind}:${text.trim()}`);
  assert.deepEqual(await kinds("one two three", "one four three"), ["removed:two", "added:four"]);
  assert.deepEqual(await kinds("这是一个测试文档", "这是一个示例文档"), ["removed:测试", "added:示例"]);
  assert.deepEqual(await kinds("Старый текст здесь", "Новый текст здесь"), ["removed:Старый", "added:Новый"]);
});

test("lines that are gone are whole, whatever signs they have in common with others", async () => {
  const before = "Tea\n\n| a | b |\n|---|---|\n\n- leaf - one\n";
  const parts = await compareWords(before, "- leaf - one\n- leaf - two\n");
  assert.deepEqual(
    parts.map(({ text, kind }) => [kind, text]),
    [
      ["removed", "Tea\n\n| a | b |\n|---|---|\n\n"],
      ["same", "- leaf - one\n"],
      ["added", "- leaf - two\n"],
    ],
  );
});

test("what is long is left out in its middle, between words", () => {
  const parts = shortened([
    { text: "word ".repeat(100), kind: "same" },
    { text: "b", kind: "added" },
  ]);
  assert.deepEqual(
    parts.map(({ text, left }) => left ?? text),
    ["word ".repeat(16), 340, "word ".repeat(16), "b"],
  );
});
