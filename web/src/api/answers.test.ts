import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { answered, forget, subjectOf } from "./answers.ts";

beforeEach(() => forget());

test("a path is about a collection, about all of them, or about none", () => {
  const of = (path: string) => subjectOf(`/api/v1/${path}`);
  assert.deepEqual(["collections", "presets", "registries"].map(of), ["", "", ""]);
  assert.deepEqual(["collections/a", "collections/a@3", "collections/a/chunks"].map(of), ["a", "a", "a"]);
  assert.equal(of("collections/%E8%8C%B6%20b/documents/x%2Fy"), "茶 b");
  assert.deepEqual(["jobs", "jobs/1/events", "search", "collectionsx"].map(of), Array(4).fill(undefined));
});

/** Sends requests to a server that counts them; the texts of its answers. */
async function ask(requests: [path: string, init?: RequestInit][], status = 200): Promise<string[]> {
  let sent = 0;
  const texts: string[] = [];
  for (const [path, init] of requests) {
    const answer = await answered(new Request(`http://localhost/api/v1/${path}`, init), () =>
      Promise.resolve(new Response(`${(sent += 1)}`, { status, headers: { "x-request-id": `${sent}` } })),
    );
    assert.equal(answer.status, status);
    texts.push(`${await answer.text()} ${answer.headers.get("x-request-id")}`);
  }
  return texts;
}

test("what was answered is answered again, by its whole address", async () => {
  assert.deepEqual(await ask([["collections/a"], ["collections/a?limit=1"], ["collections/a"]]), ["1 1", "2 2", "1 1"]);
});

test("a request that changes a collection makes what is known of it forgotten, and no more", async () => {
  const change = { method: "POST", body: "{}" };
  const asked = [["collections/a"], ["collections/b"], ["collections/a/chunks/amend", change]] as [
    string,
    RequestInit?,
  ][];
  assert.deepEqual(await ask([...asked, ["collections/a"], ["collections/b"]]), ["1 1", "2 2", "3 3", "4 4", "2 2"]);
});

test("failures, what must be new and what is about no collection are asked for each time", async () => {
  assert.deepEqual(await ask([["collections/a"], ["collections/a"]], 404), ["1 1", "2 2"]);
  const cache = "no-store" as const;
  assert.deepEqual(
    await ask([
      ["collections/b", { cache }],
      ["collections/b", { cache }],
    ]),
    ["1 1", "2 2"],
  );
  assert.deepEqual(await ask([["jobs"], ["jobs"]]), ["1 1", "2 2"]);
});
