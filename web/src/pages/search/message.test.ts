import assert from "node:assert/strict";
import { test } from "node:test";
import { hitsIn, memberOf, messageOf } from "./message.ts";

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
  assert.deepEqual(args("text"), { query: "q", limit: 3 });
  assert.deepEqual(args("structured"), { query: "q", limit: 3, format: "structured" });
  assert.deepEqual(args("chatgpt"), { query: "q" });
});

test("hits in Markdown are counted by their ids", () => {
  const id = "9bcff36484d0b14c2b8d1c8f3104e68e";
  assert.equal(hitsIn(`a.md:1-9 | A | 0.97 | ${id}\n\`\`\`\n${id}\n\`\`\`\nb.md:1-2 | chunk://other/${id}\n`), 2);
  assert.equal(hitsIn("Nothing was found"), 0);
});
