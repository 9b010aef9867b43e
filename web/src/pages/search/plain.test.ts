import assert from "node:assert/strict";
import { test } from "node:test";
import { isProse, plain } from "./plain.ts";

const check = (marked: string, text: string) => assert.equal(plain(marked), text);

test("marks of Markdown are not shown", () => {
  check("## Signed **webhooks** #", "Signed webhooks");
  check("We sign *each* webhook with `X-Key_1` and _HMAC_.", "We sign each webhook with X-Key_1 and HMAC.");
  check('See [the guide](guide.md "now") and ![a map](map.png).', "See the guide and a map.");
  check("> - [x] done\n1. first", "• done\n1. first");
  check("| a | b |\n|---|:-:|\n| 1 | **2** |", "a · b\n1 · 2");
  check("| a |  | c |", "a · c");
  check("```sh\nrun *.md\n```\n---\nEnd", "run *.md\nEnd");
  check('<p class="x">Tea<br>and <b>milk</b></p><!-- not\nseen -->', "Teaand milk");
  check("绿茶是**不发酵**的茶。", "绿茶是不发酵的茶。");
});

test("what only looks like a mark stays", () => {
  check("max_chunk_size * 2 < 3 and a > b", "max_chunk_size * 2 < 3 and a > b");
  check("2*3*4, snake_case_name, \\*not emphasis\\*", "2*3*4, snake_case_name, *not emphasis*");
  check("an array[0] and f(x)", "an array[0] and f(x)");
  check("-5 degrees", "-5 degrees");
});

test("source code is shown as it stands", () => {
  assert.equal(isProse({ language: "rust", content_type: "code" }), false);
  assert.equal(isProse({ content_type: "code_block" }), false);
  assert.equal(isProse({ content_type: "paragraph" }), true);
});
