import assert from "node:assert/strict";
import { test } from "node:test";
import { all, listed, ofDocument, ofExtensions, ofOne, scopeOf, wantedOf } from "./filter.ts";

const wanted = (query: string) => {
  const values = new URLSearchParams(query);
  return wantedOf((name) => values.get(name) ?? "");
};

test("an address without conditions lets every chunk pass", () => assert.equal(listed(wanted("")), ""));

test("one condition stands alone, several hold together", () => {
  assert.equal(all("a=1", "", null), "a=1");
  assert.equal(all("a=1 or b=2", "c=3"), "(a=1 or b=2) and (c=3)");
});

test("a range of sizes is no part of the scope whose distribution it is chosen from", () => {
  const both = wanted("type=table&from=10&to=64");
  assert.equal(scopeOf(both), 'content_type="table"');
  assert.equal(listed(both), '(content_type="table") and ((token_count>=10) and (token_count<=64))');
});

test("every level is as good as none", () => {
  assert.equal(listed(wanted("levels=normal,warning,large,oversized")), "");
  assert.equal(listed(wanted("levels=large,nonsense")), "token_level=large");
});

test("a document is found by a part of its path or by a pattern", () => {
  assert.equal(ofDocument("guide"), 'path="guide"');
  assert.equal(ofDocument("docs/**/*.md"), 'path="docs/**/*.md"');
});

test("one document is named exactly, whatever characters its name has", () => {
  assert.equal(ofOne("a b*{c}.md"), 'doc_id="a b*{c}.md"');
  assert.equal(ofOne('a"b\\c.md'), 'doc_id="a\\"b\\\\c.md"');
});

test("a pattern keeps the backslashes that take the meaning from its characters", () => {
  assert.equal(ofDocument("docs/\\[a\\]*.md"), 'path="docs/\\\\[a\\\\]*.md"');
});

test("a size that is no number is none", () => assert.equal(listed(wanted("from=-4&to=1e9")), ""));

test("extensions become a pattern", () => {
  assert.equal(ofExtensions(["csv"]), "doc_id~**/*.csv");
  assert.equal(ofExtensions(["csv", "json"]), "doc_id~**/*.{csv,json}");
});
