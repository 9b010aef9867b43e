import assert from "node:assert/strict";
import { test } from "node:test";
import { Highlighter, KINDS } from "./highlighter.ts";
import { languageOf, modeOf } from "./languages.ts";

/** The coloured parts of a line of a source: text and colour. */
async function coloursOf(language: string, source: string, line: number): Promise<string[]> {
  const starts = [0];
  for (let at = 0; at < source.length; at += 1) if (source[at] === "\n") starts.push(at + 1);
  starts.push(source.length);
  const mode = await modeOf(language, source);
  const tokens = new Highlighter(source, Uint32Array.from(starts), mode!, () => {}).of(line)!;
  const out: string[] = [];
  for (let n = 0; n < tokens.length; n += 3)
    out.push(`${KINDS[tokens[n + 2]!]}:${source.slice(starts[line]! + tokens[n]!, starts[line]! + tokens[n + 1]!)}`);
  return out;
}

test("a comment goes on over lines", async () => {
  assert.deepEqual((await coloursOf("rust", "/* one\ntwo */ fn f() {}\n", 1)).slice(0, 2), [
    "comment:two */",
    "keyword:fn",
  ]);
});
test("a fence in Markdown has the colours of its language", async () => {
  const source = "# Title\n\n```python\ndef f(): return 'x'\n```\nText with `code`.\n";
  assert.deepEqual(await coloursOf("markdown", source, 0), ["heading:# Title"]);
  assert.ok((await coloursOf("markdown", source, 3)).includes("string:'x'"));
  assert.deepEqual(await coloursOf("markdown", source, 5), ["string:`code`"]);
});
test("a language is told by the chunks, the format or the name", () => {
  assert.equal(languageOf("a.py"), "python");
  assert.equal(languageOf("x/README", "markdown"), "markdown");
  assert.equal(languageOf("x", undefined, [{ language: "typescript" }]), "typescript");
  assert.equal(languageOf("notes.txt", "text"), null);
});
test("a line that no mode can read leaves the rest as it is", async () => {
  for (const language of [
    "rust",
    "python",
    "javascript",
    "html",
    "css",
    "yaml",
    "toml",
    "sql",
    "bash",
    "go",
    "markdown",
  ]) {
    const source = `\u0000\ufffd "unclosed 'q \\\n${"(".repeat(3000)}\n<a b="\n\t\n`;
    assert.ok(Array.isArray(await coloursOf(language, source, 2)), language);
  }
});
