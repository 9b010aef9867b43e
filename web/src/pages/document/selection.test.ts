import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { lay } from "../../chunks/layout.ts";
import type { Chunk } from "../../chunks/types.ts";
import { Selection } from "./selection.svelte.ts";

mock.timers.enable({ apis: ["setTimeout"] });
globalThis.requestAnimationFrame = (run) => (run(0), 0);

/** A document of lines, each a chunk whose id is its text. */
const LINES = ["zero", "one", "two", "three", "four", "five"];
const chunksOf = (count: number) =>
  LINES.slice(0, count).map((line, at) => {
    const start = LINES.slice(0, at).join("\n").length + (at > 0 ? 1 : 0);
    const span = { start_char: start, end_char: start + line.length, start_line: at + 1, end_line: at + 1 };
    return { chunk_id: line, chunk_index: at, context: "", ...span } as Chunk;
  });

/** A selection of which some chunks have arrived, with what it did. */
function made({ arrived = LINES.length } = {}) {
  const done: string[] = [];
  const around = { chunk: "", line: 0, shown: null as number[] | null };
  const arrive = (count: number) => {
    const chunks = chunksOf(count);
    const positions = new Map(chunks.map(({ chunk_id }, at) => [chunk_id, at]));
    return { chunks, positions, layout: lay(LINES.join("\n"), chunks), complete: count === LINES.length };
  };
  const data = arrive(arrived);
  const selection = new Selection(data, {
    chunk: () => around.chunk,
    line: () => around.line,
    write: (chunk_id) => void done.push(`address ${chunk_id}`),
    shown: () => around.shown,
    onmissing: () => void done.push("missing"),
  });
  selection.list = {
    toChunk: (at) => void done.push(`list ${at}`),
    toggleMark: (range) => void done.push(range ? "mark range" : "mark"),
  };
  selection.source = {
    toChunk: (at) => void done.push(`source ${at}`),
    toLine: (line) => void done.push(`line ${line}`),
  };
  return {
    selection,
    around,
    arrive: (count: number) => {
      Object.assign(data, arrive(count));
      selection.follow(around.chunk, around.line);
    },
    rest: () => mock.timers.tick(120),
    /** What was done since it was asked for last. */
    did: async () => {
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return done.splice(0);
    },
  };
}

test("a chunk that is selected is shown, and is in the address when keys rest", async () => {
  const { selection, rest, did } = made();
  selection.select(1);
  selection.select(2);
  assert.equal(selection.chunk?.chunk_id, "two");
  assert.deepEqual(await did(), ["list 1", "source 1", "list 2", "source 2"]);
  rest();
  assert.deepEqual(await did(), ["address two"]);
  selection.select(-1);
  rest();
  assert.deepEqual(await did(), ["address "]);
});

test("a view where one selects stays where it is, but for the list when the first is selected", async () => {
  const { selection, did } = made();
  selection.select(1, { source: true });
  assert.deepEqual(await did(), ["list 1", "source 1"]);
  selection.select(2, { source: true });
  assert.deepEqual(await did(), ["source 2"]);
  selection.select(3, { list: true });
  assert.deepEqual(await did(), ["list 3"]);
});

test("the chunk of the address is selected when it has arrived", async () => {
  const { selection, around, arrive, did } = made({ arrived: 2 });
  around.chunk = "four";
  selection.follow("four", 0);
  assert.deepEqual([selection.at, await did()], [-1, []]);
  arrive(6);
  assert.deepEqual([selection.at, await did()], [4, ["list 4", "source 4"]]);
  // It is followed once: what is seen stays where it is when a chunk is changed.
  arrive(6);
  assert.deepEqual(await did(), []);
  selection.follow("", 0);
  assert.equal(selection.at, -1);
});

test("a chunk of the address that is not in the document is missing when all have arrived, once", async () => {
  const { selection, around, arrive, did } = made({ arrived: 2 });
  around.chunk = "seven";
  selection.follow("seven", 0);
  assert.deepEqual(await did(), []);
  arrive(6);
  arrive(6);
  assert.deepEqual([selection.at, await did()], [-1, ["missing"]]);
});

test("a line of the address selects its chunk as soon as that has arrived", async () => {
  const { selection, around, arrive, did } = made({ arrived: 2 });
  around.line = 5;
  selection.follow("", 5);
  assert.deepEqual([selection.at, await did()], [-1, []]);
  arrive(6);
  assert.deepEqual([selection.at, await did()], [4, ["list 4", "line 5"]]);
  const early = made({ arrived: 2 });
  early.selection.follow("", 2);
  assert.equal(early.selection.at, 1);
});

test("what was selected holds while it is not in the address, whatever arrives", () => {
  const { selection, around, arrive, rest } = made({ arrived: 2 });
  around.chunk = "five";
  selection.select(0);
  arrive(6);
  assert.equal(selection.at, 0);
  rest();
  selection.follow("zero", 0);
  assert.equal(selection.at, 0);
});

test("keys move through all chunks, and stop at both ends", () => {
  const { selection } = made();
  const seen = ([1, 1, -1, -1, -1] as const).map((by) => (selection.step(by), selection.at));
  assert.deepEqual(seen, [0, 1, 0, 0, 0]);
  const last = made().selection;
  assert.deepEqual(
    ([-1, 1, -1] as const).map((by) => (last.step(by), last.at)),
    [5, 5, 4],
  );
});

test("keys move through the chunks that pass the filter, from wherever the selection is", () => {
  const { selection, around } = made();
  around.shown = [1, 3, 5];
  const go = (from: number, by: 1 | -1) => {
    selection.at = from;
    selection.step(by);
    return selection.at;
  };
  assert.deepEqual([go(-1, 1), go(1, 1), go(5, 1), go(1, -1)], [1, 3, 5, 1]);
  assert.deepEqual([go(2, 1), go(2, -1), go(0, -1), go(-1, -1)], [3, 1, 1, 5]);
  around.shown = [];
  assert.equal(go(2, 1), 2);
});

test("a filter that is entered selects the first chunk that passes, unless the selected one does", () => {
  const { selection, around } = made();
  around.shown = [2, 4];
  selection.toFirst();
  assert.equal(selection.at, 2);
  selection.at = 4;
  selection.toFirst();
  assert.equal(selection.at, 4);
  around.shown = [];
  selection.toFirst();
  assert.equal(selection.at, 4);
});

test("the end that is asked for early is the last chunk when all have arrived, unless one went on", () => {
  const end = ({ goesOn = false, shown = null as number[] | null } = {}) => {
    const { selection, around, arrive, rest } = made({ arrived: 3 });
    selection.select(2);
    selection.toEnd();
    rest();
    around.chunk = "two";
    if (goesOn) selection.step(-1);
    around.shown = shown;
    arrive(6);
    return selection.at;
  };
  assert.equal(end(), 5);
  assert.equal(end({ shown: [1, 4] }), 4);
  assert.equal(end({ goesOn: true }), 1);
  const { selection, arrive } = made();
  selection.select(3);
  selection.toEnd();
  arrive(6);
  assert.equal(selection.at, 3);
});

test("chunks are marked in the list, or alone where there is none", async () => {
  const { selection, did } = made();
  selection.mark(true);
  assert.deepEqual(await did(), ["mark range"]);
  selection.list = undefined;
  selection.mark(false);
  assert.deepEqual([...selection.marked], []);
  selection.at = 1;
  selection.mark(false);
  assert.deepEqual([...selection.marked], ["one"]);
  selection.mark(false);
  assert.deepEqual([...selection.marked], []);
});

test("a chunk that was made is selected, and marks of chunks that are gone go", () => {
  const { selection } = made();
  selection.marked = new Set(["one", "gone"]);
  selection.made("three");
  assert.deepEqual([selection.at, [...selection.marked]], [3, ["one"]]);
  selection.made("nowhere");
  assert.equal(selection.at, 3);
});

test("the outline shows where one points, else the selection while it is in sight, else the first line", () => {
  const { selection } = made();
  selection.seen = [2, 4];
  assert.equal(selection.line, 2);
  selection.at = 2;
  assert.equal(selection.line, 3);
  selection.at = 5;
  assert.equal(selection.line, 2);
  selection.hovered = 4;
  assert.equal(selection.line, 5);
});

test("chunks that begin in the section that is pointed at are near", () => {
  const { selection } = made();
  assert.equal(selection.isNear, undefined);
  selection.section = { start_line: 2, end_line: 3 } as NonNullable<typeof selection.section>;
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => selection.isNear?.(at)),
    [false, true, true, false],
  );
});

test("a chunk is selected by its number, also before it has arrived", async () => {
  const { selection, arrive, rest, did } = made({ arrived: 2 });
  const selected = () => selection.chunk?.chunk_id;
  selection.toNumber(1);
  assert.equal(selected(), "one");
  selection.toNumber(4);
  assert.equal(selected(), undefined);
  rest();
  await did();
  arrive(LINES.length);
  assert.equal(selected(), "four");
  assert.deepEqual(await did(), ["list 4", "source 4"]);
  rest();
  assert.deepEqual(await did(), ["address four"]);
  selection.toNumber(900);
  assert.equal(selected(), "five", "the last is the nearest");
});
