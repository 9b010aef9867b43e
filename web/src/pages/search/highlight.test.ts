import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpt, highlight } from "./highlight.ts";

/** The text with `[matches]` and `(common words)` marked. */
const marked = (text: string, terms: string[]) =>
  highlight(text, terms)
    .map(({ text, kind }) => (kind === "term" ? `[${text}]` : kind ? `(${text})` : text))
    .join("");

test("words of a stem are marked", () => {
  assert.equal(
    marked("Retry, retries and retrying: a retriever", ["retri"]),
    "[Retry], [retries] and retrying: a [retriever]",
  );
  assert.equal(marked("Repeating requests, repeat", ["repeat", "request"]), "[Repeating] [requests], [repeat]");
  assert.equal(marked("run, running, rune, prune", ["run"]), "[run], [running], [rune], prune");
});

test("a short stem marks no longer word", () => {
  assert.equal(marked("a cat and an apple", ["a"]), "(a) cat and an apple");
  assert.equal(marked("с собой и с ним", ["с"]), "(с) собой и (с) ним");
});

test("Russian words are marked with their endings, whatever the case and ё", () => {
  assert.equal(
    marked("Зависимости и зависимостями, ЗАВИСИМ", ["зависим"]),
    "[Зависимости] и [зависимостями], [ЗАВИСИМ]",
  );
  assert.equal(marked("чёрный, черная", ["черн"]), "[чёрный], [черная]");
});

test("pairs of Chinese characters are marked, and join", () => {
  assert.equal(marked("老面馒头蒸好以后", ["馒头", "头蒸"]), "老面[馒头蒸]好以后");
  assert.equal(marked("为什么馒头", ["什么", "馒头"]), "为(什么)[馒头]");
  assert.equal(marked("塔在塔下", ["塔"]), "[塔]在[塔]下");
});

test("Chinese beside Latin is divided", () => {
  assert.equal(marked("使用FastAPI创建", ["fastapi", "创建"]), "使用[FastAPI][创建]");
});

test("identifiers are marked whole, or by their parts", () => {
  assert.equal(
    marked("maxChunkSize of max_chunk_size", ["maxchunksize", "chunk"]),
    "[maxChunkSize] of max_[chunk]_size",
  );
  assert.equal(marked("parseHTMLText", ["html"]), "parse[HTML]Text");
  assert.equal(marked("utf8 and 8", ["8"]), "utf[8] and [8]");
});

test("words are marked whatever their marks, their hyphens and their symbols", () => {
  assert.equal(marked("Zürich, Zu\u0308rich, ZURICH", ["zurich"]), "[Zürich], [Zu\u0308rich], [ZURICH]");
  assert.equal(marked("Łódź; чай и чаи", ["lodz", "чай"]), "[Łódź]; [чай] и чаи");
  assert.equal(marked("e-mail, emails, mail", ["email"]), "[e-mail], [emails], mail");
  assert.equal(marked("10 000 rows, 10,000", ["10000"]), "[10 000] rows, [10,000]");
  assert.equal(marked("C and C++ and --no-cache", ["c++", "--no-cache"]), "C and [C++] and [--no-cache]");
  assert.equal(marked("список и настроек", ["списк", "настройк"]), "[список] и [настроек]");
});

test("runs are the text, whatever is in it", () => {
  const text = "㈱ ﬁle İstanbul <b>file</b> 馒头 \u{20000}\u{20001} 😀";
  assert.equal(
    highlight(text, ["file", "馒头", "\u{20000}\u{20001}", "istanbul"])
      .map(({ text }) => text)
      .join(""),
    text,
  );
});

test("an excerpt begins near the first match that is far below", () => {
  const text = `${"line\n".repeat(20)}before\nthe needle\nafter`;
  assert.deepEqual(excerpt(text, ["needl"]), { text: "before\nthe needle\nafter", before: true, after: false });
  assert.deepEqual(excerpt("needle\nafter", ["needl"]), { text: "needle\nafter", before: false, after: false });
  assert.equal(excerpt("x".repeat(2000), []).after, true);
});
