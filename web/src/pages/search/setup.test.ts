import assert from "node:assert/strict";
import { test } from "node:test";
import { asCommand, asCurl, changed, differences, refusalOf, requestOf, setupOf, toParam } from "./setup.ts";

const setup = (query: string, side: "a" | "b" = "a") => setupOf(new URLSearchParams(query), side);

test("an address without parameters searches all collections", () => {
  const request = requestOf("x", setup(""));
  assert.equal(request.all_collections, true);
  assert.equal(request.top_k, 10);
  assert.equal(request.min_relevance, null);
  assert.deepEqual(changed(setup("")), []);
});

test("both sides stand in one address", () => {
  const query = "c=a,b@2&mode=lexical&b_mode=dense&b_top_k=3";
  assert.deepEqual(requestOf("x", setup(query)).collections, ["a", "b@2"]);
  assert.equal(setup(query, "b").mode, "dense");
  assert.deepEqual(differences(setup(query), setup(query, "b")), ["c", "mode", "top_k"]);
  assert.equal(toParam("mode", "hybrid"), null);
});

test("a fusion by ranks has its own constant", () => {
  assert.deepEqual(requestOf("x", setup("fusion=rrf&rrf_k=10")).fusion, { method: "rrf", k: 10 });
});

test("a search can be copied as curl and as a command, without what is usual", () => {
  const request = requestOf("it's", setup("c=notes&top_k=5&filter=lang%3Drust&min_relevance=0&fusion=rrf"));
  assert.equal(
    asCommand(request),
    "chunkwright search 'it'\\''s' --collection notes --filter 'lang=rust' --min-relevance 0 --fusion rrf --rrf-k 60",
  );
  assert.equal(
    asCommand(requestOf("-path:old x", setup("c=notes&top_k=5"))),
    "chunkwright search --collection notes -- '-path:old x'",
  );
  assert.equal(
    asCurl(requestOf("x", setup("c=notes&top_k=5")), "http://h"),
    `curl http://h/api/v1/search --json '{"query":"x","collections":["notes"]}'`,
  );
});

test("a refusal is shown at what it is about", () => {
  const json = (detail: string) =>
    `Failed to deserialize the JSON body into the target type: ${detail} at line 1 column 9`;
  assert.deepEqual(refusalOf(422, json("filter: unknown field `languag`; did you mean `language`?")), {
    field: "filter",
    message: "unknown field `languag`; did you mean `language`?",
  });
  assert.equal(refusalOf(422, json("expand.with: `bogus` is not an expansion"))?.field, "expand");
  assert.equal(refusalOf(400, "`top_k` is `0`; it must be from 1 to 1000")?.field, "top_k");
  assert.equal(refusalOf(400, "`k` is `-1`; it must be a number from 0")?.field, "rrf_k");
  assert.equal(refusalOf(400, "`language` cannot be `klingon`; known are `c`")?.field, "q");
  assert.equal(refusalOf(404, "unknown collection `nope`; known are `code`")?.field, "c");
  assert.equal(refusalOf(503, "dense search is not possible: collection `notes` has no vectors")?.field, "mode");
  assert.equal(refusalOf(400, "`min_relevance` is not possible: no calibration")?.field, "min_relevance");
  assert.equal(refusalOf(500, "the request ended without an answer"), null);
});
