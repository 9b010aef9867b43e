import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Table, type Schema } from "./setup.ts";

interface Parameter {
  name: string;
  description: string;
  schema: object;
}
const openapi = JSON.parse(readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8")) as {
  paths: Record<"/api/v1/search", { get: { parameters: Parameter[] } }>;
};
const options = openapi.paths["/api/v1/search"].get.parameters.filter(({ schema }) => "x-pointer" in schema);
const properties = options.map(({ name, description, schema }) => [name, { ...schema, description }] as const);
const table = new Table({ properties: Object.fromEntries(properties) } as Schema);

const setup = (query: string, side: "a" | "b" = "a") => table.setupOf(new URLSearchParams(query), side);

test("an address without parameters searches all collections", () => {
  const request = table.requestOf("x", setup(""));
  assert.equal(request.all_collections, true);
  assert.equal(request.top_k, 10);
  assert.equal(request.min_relevance, null);
  assert.deepEqual(table.changed(setup("")), []);
});

test("both sides stand in one address", () => {
  const query = "c=a,b@2&mode=lexical&b_mode=dense&b_top_k=3";
  assert.deepEqual(table.requestOf("x", setup(query)).collections, ["a", "b@2"]);
  assert.equal(setup(query, "b").mode, "dense");
  assert.deepEqual(table.differences(setup(query), setup(query, "b")), ["c", "mode", "top_k"]);
  assert.equal(table.toParam("mode", "hybrid"), null);
});

test("a fusion by ranks has its own constant", () => {
  assert.deepEqual(table.requestOf("x", setup("fusion=rrf&rrf_k=10")).fusion, { method: "rrf", k: 10 });
});

test("a search can be copied as curl and as a command, without what is usual", () => {
  const request = table.requestOf("it's", setup("c=notes&top_k=5&filter=lang%3Drust&min_relevance=0&fusion=rrf"));
  assert.equal(
    table.asCommand(request),
    "chunkwright search 'it'\\''s' --collection notes --filter 'lang=rust' --min-relevance 0 --fusion rrf",
  );
  assert.equal(
    table.asCommand(table.requestOf("-path:old x", setup("c=notes&top_k=5"))),
    "chunkwright search --collection notes -- '-path:old x'",
  );
  assert.equal(
    table.asCurl(table.requestOf("x", setup("c=notes&top_k=5")), "http://h"),
    `curl http://h/api/v1/search --json '{"query":"x","collections":["notes"]}'`,
  );
});

test("a refusal is shown at what it is about", () => {
  const at = (pointer: string) => table.refusalOf({ errors: [{ pointer, detail: "it cannot be" }] });
  assert.deepEqual(at("#/filter"), { field: "filter", message: "it cannot be" });
  for (const [pointer, field] of [
    ["#/query", "q"],
    ["#/collections/0", "c"],
    ["#/top_k", "top_k"],
    ["#/offset", "candidates"],
    ["#/mode", "mode"],
    ["#/min_relevance", "min_relevance"],
    ["#/fusion", "fusion"],
    ["#/fusion/k", "rrf_k"],
    ["#/fusion/dense_weight", "dense_weight"],
    ["#/expand/with", "expand"],
    ["#/expand/max_tokens", "expand_tokens"],
    ["#/filter/0/value", "filter"],
  ])
    assert.equal(at(pointer!)?.field, field, pointer);
  assert.equal(at("#"), null);
  assert.equal(table.refusalOf({ detail: "`top_k` is `0`" }), null, "words are not read");
});
