import assert from "node:assert/strict";
import { test } from "node:test";
import { Cache } from "./cache.ts";

/** A cache of texts, and what it loaded. Each text is its key and how many were loaded before. */
function made({ age = 1_000, bytes = 1_000 } = {}) {
  const loaded: string[] = [];
  const clock = { now: 0 };
  const cache = new Cache<string>(
    { age, bytes },
    (text) => (text.startsWith("!") ? Infinity : text.length),
    () => clock.now,
  );
  const ask = (key: string, collection = "", signal = new AbortController().signal) =>
    cache.get(key, collection, signal, () => Promise.resolve(`${key} ${loaded.push(key)}`));
  return { cache, ask, loaded, clock };
}

/** A cache of which one value comes when it is let, and how its request ended. */
function slow() {
  const cache = new Cache<string>({ age: 1_000, bytes: 1_000 }, (text) => text.length);
  const asked: { signal: AbortSignal; give: (text: string) => void; fail: (failure: Error) => void }[] = [];
  const ask = (signal = new AbortController().signal, collection = "lamps") =>
    cache.get("key", collection, signal, (signal) => {
      return new Promise((give, fail) => {
        asked.push({ signal, give, fail });
        signal.addEventListener("abort", () => fail(signal.reason as Error));
      });
    });
  return { cache, ask, asked };
}

test("what was loaded is not loaded again, each key for itself", async () => {
  const { ask, loaded } = made();
  assert.deepEqual([await ask("a"), await ask("b"), await ask("a")], ["a 1", "b 2", "a 1"]);
  assert.deepEqual(loaded, ["a", "b"]);
});

test("a collection that changes takes along what is about it and about all, and leaves the others", async () => {
  const { cache, ask, loaded } = made();
  const all = async () => [await ask("lamp", "lamps"), await ask("boat", "boats"), await ask("list", "")];
  await all();
  cache.drop("lamps");
  assert.deepEqual(await all(), ["lamp 4", "boat 2", "list 5"]);
  cache.drop();
  await all();
  assert.equal(loaded.length, 8);
});

test("a value is loaded again when it is old", async () => {
  const { ask, clock } = made({ age: 100 });
  await ask("a");
  clock.now = 99;
  assert.equal(await ask("a"), "a 1");
  clock.now = 100;
  assert.equal(await ask("a"), "a 2");
});

test("the value that was used longest ago goes when there are too many bytes", async () => {
  const { ask } = made({ bytes: 9 });
  for (const key of ["a", "b", "c", "a", "d"]) await ask(key);
  assert.deepEqual([await ask("a"), await ask("c"), await ask("d")], ["a 1", "c 3", "d 4"]);
  assert.equal(await ask("b"), "b 5");
});

test("a value that is larger than all, or is none to be kept, is answered and not kept", async () => {
  const { ask } = made({ bytes: 9 });
  await ask("a");
  assert.equal(await ask("a long key"), "a long key 2");
  assert.equal(await ask("!"), "! 3");
  assert.deepEqual([await ask("a long key"), await ask("!"), await ask("a")], ["a long key 4", "! 5", "a 1"]);
});

test("who asks while a value is on its way waits for the same request", async () => {
  const { ask, asked } = slow();
  const both = [ask(), ask()];
  asked[0]?.give("text");
  assert.deepEqual(await Promise.all(both), ["text", "text"]);
  assert.equal(asked.length, 1);
});

test("a request is aborted when nobody waits for it any more, and is begun anew by the next", async () => {
  const { ask, asked } = slow();
  const [one, other] = [new AbortController(), new AbortController()];
  const both = [ask(one.signal), ask(other.signal)];
  one.abort();
  await assert.rejects(both[0]!, { name: "AbortError" });
  assert.equal(asked[0]?.signal.aborted, false);
  other.abort();
  await assert.rejects(both[1]!, { name: "AbortError" });
  assert.equal(asked[0]?.signal.aborted, true);
  const again = ask();
  asked[1]?.give("text");
  assert.equal(await again, "text");
  await assert.rejects(ask(one.signal), { name: "AbortError" });
  assert.equal(asked.length, 2);
});

test("a value stays when who asked for it is gone after it came", async () => {
  const { ask, asked } = slow();
  const control = new AbortController();
  const first = ask(control.signal);
  asked[0]?.give("text");
  await first;
  control.abort();
  assert.equal(await ask(), "text");
  assert.equal(asked[0]?.signal.aborted, false);
});

test("what was on its way when its collection changed is answered and not kept", async () => {
  const { cache, ask, asked } = slow();
  const first = ask();
  cache.drop("lamps");
  asked[0]?.give("old");
  assert.equal(await first, "old");
  const second = ask();
  asked[1]?.give("new");
  assert.equal(await second, "new");
});

test("a failure is answered to all who wait, and not kept", async () => {
  const { ask, asked } = slow();
  const both = [ask(), ask()];
  asked[0]?.fail(new Error("away"));
  for (const each of both) await assert.rejects(each, /away/u);
  const again = ask();
  asked[1]?.give("text");
  assert.equal(await again, "text");
});
