import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf, messageOf } from "./message.ts";

test("a member is found as it was written", () => {
  const json = '{"jsonrpc":"2.0","result":{"a":1.0,"t":"x \\"}{\\\\","n":[1e-7,{"b":null}]},"id":1}';
  assert.equal(memberOf(json, "result"), '{"a":1.0,"t":"x \\"}{\\\\","n":[1e-7,{"b":null}]}');
  assert.equal(memberOf(memberOf(json, "result")!, "n"), '[1e-7,{"b":null}]');
  assert.equal(memberOf(json, "id"), "1");
  assert.equal(memberOf(json, "error"), null);
  assert.equal(memberOf("{}", "x"), null);
});

test("the tools for ChatGPT are given a query alone", () => {
  const args = (form: "structured" | "text" | "chatgpt") =>
    (messageOf({ query: "q", limit: 3 }, form) as { params: { arguments: object } }).params.arguments;
  assert.deepEqual(args("structured"), { query: "q", limit: 3 });
  assert.deepEqual(args("text"), { query: "q", limit: 3, format: "text" });
  assert.deepEqual(args("chatgpt"), { query: "q" });
});
