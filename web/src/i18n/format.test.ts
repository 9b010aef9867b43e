import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "./en.ts";
import { formatOf } from "./format.ts";
import { ru } from "./ru.ts";
import { zh } from "./zh.ts";

test("counts have the forms of their language", () => {
  const say = (n: number) =>
    [en(formatOf("en")), zh(formatOf("zh")), ru(formatOf("ru"))].map(({ chunks }) => chunks.chunks(n));
  assert.deepEqual(say(1), ["1 chunk", "1 个分块", "1 чанк"]);
  assert.deepEqual(say(3), ["3 chunks", "3 个分块", "3 чанка"]);
  assert.deepEqual(say(1205), ["1,205 chunks", "1,205 个分块", "1\u00a0205 чанков"]);
});

test("sizes and times are said in the units that fit", () => {
  const format = formatOf("en");
  assert.deepEqual([format.bytes(12), format.bytes(4_200), format.bytes(98_000_000)], ["12 byte", "4.2 kB", "98 MB"]);
  assert.deepEqual([format.span(0.032), format.span(42), format.span(600)], ["32 ms", "42 sec", "10 min"]);
  const now = Date.parse("2026-01-02T00:00:00Z");
  assert.deepEqual(
    [format.ago("2026-01-01T00:00:00Z", now), format.ago("2026-01-01T23:59:59.9Z", now), format.ago("", now)],
    ["yesterday", "now", ""],
  );
});
