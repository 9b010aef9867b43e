import assert from "node:assert/strict";
import { test } from "node:test";
import { order } from "./order.ts";
import { Sparse, type Asked } from "./sparse.svelte.ts";

/** A server with some entries, which counts what it is asked. */
function listOf(entries: string[], size: number, total: (() => number) | null = () => entries.length) {
  const asked: Asked[] = [];
  const list = new Sparse<string>(size, async (one) => {
    asked.push(one);
    await Promise.resolve();
    const from = Number(one.cursor ?? 0) + (one.skip ?? 0);
    const items = entries.slice(from, from + one.limit);
    const end = from + items.length;
    return { items, next: end < entries.length ? String(end) : null, ...(total && { total: total() }) };
  });
  return { list, asked };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const many = Array.from({ length: 10_000 }, (_, at) => `notes/${String(at).padStart(5, "0")}.md`);

test("a list is as long as the whole after its first page, and has what is in sight", async () => {
  const { list, asked } = listOf(many, 100);
  list.look(0, 20);
  await turn();
  assert.deepEqual([list.length, list.loaded, asked.length], [10_000, 100, 1]);
  assert.equal(list.at(20), many[20]);
  list.look(6_040, 6_060);
  await turn();
  assert.deepEqual(asked.slice(1), [{ limit: 100, skip: 6_000 }]);
  assert.deepEqual([list.at(6_050), list.at(5_000)], [many[6_050], undefined]);
  assert.deepEqual(Array.from(list.entries()).at(-1), [6_099, many[6_099]]);
});

test("who goes through a list asks for each page once, by its cursor", async () => {
  const { list, asked } = listOf(many, 100);
  for (let row = 0; row < many.length; row += 50) {
    list.look(row, row + 49);
    await turn();
  }
  assert.equal(asked.length, 100);
  assert.deepEqual(
    asked.filter(({ skip }) => skip),
    [],
  );
  assert.equal(list.loaded, many.length);
});

test("who drags over the whole asks for where the drag ends, not for all that was passed by", async () => {
  const { list, asked } = listOf(many, 100);
  list.look(0, 20);
  await turn();
  for (let row = 0; row < many.length; row += 10) list.look(row, row + 20);
  await turn();
  assert.ok(asked.length <= 3, `${asked.length} requests`);
  assert.equal(list.at(9_995), many[9_995]);
});

test("a name is found by halves", async () => {
  const { list, asked } = listOf(many, 100);
  list.look(0, 20);
  await turn();
  for (const [text, row] of [
    ["notes/07311.md", 7_311],
    ["notes/0731", 7_310],
    ["a", 0],
    ["z", 10_000],
  ] as const) {
    const before = asked.length;
    assert.equal(await list.find(text, (id) => id), row);
    assert.ok(asked.length - before <= 14, `${asked.length - before} requests for ${text}`);
  }
});

test("the end says how long a list is, whatever was counted", async () => {
  const { list } = listOf(many.slice(0, 250), 100, () => 400);
  list.look(0, 20);
  await turn();
  assert.equal(list.length, 400);
  list.look(390, 399);
  await turn();
  assert.equal(list.length, 300, "nothing is there");
  list.look(210, 299);
  await turn();
  assert.equal(list.length, 250);
  list.expect(500);
  assert.equal(list.length, 250);
});

test("a count that comes later makes a list longer, not shorter than what is loaded", async () => {
  const { list } = listOf(many, 100, null);
  list.look(0, 20);
  await turn();
  assert.equal(list.length, 101, "there is more");
  list.expect(10_000);
  assert.equal(list.length, 10_000);
  list.expect(20);
  assert.equal(list.length, 100);
});

test("a failure ends loading until it is tried again", async () => {
  let fails = true;
  const list = new Sparse<number>(10, () =>
    fails ? Promise.reject(new Error("no")) : Promise.resolve({ items: [7] }),
  );
  list.look(0, 5);
  await turn();
  assert.ok(list.failure);
  list.look(0, 5);
  fails = false;
  await turn();
  assert.equal(list.at(0), undefined);
  list.retry();
  await turn();
  assert.deepEqual([list.at(0), list.length, list.failure], [7, 1, undefined]);
});

test("ids are ordered by their bytes", () => {
  const ids = ["", "a", "a!", "a/b", "b", "ж", "说", "\uffee", "\u{1f600}"];
  assert.deepEqual(ids.toReversed().toSorted(order), ids);
});
