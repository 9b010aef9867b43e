// The text of a hit as it reads: without the marks of Markdown and HTML, which say how it looks where it stands.

/** Lines that only rule, fence or divide. */
const BARE =
  /^[ \t]*(?:`{3,}.*|~{3,}.*|(?:[-*_][ \t]*){3,}|=+|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?)[ \t]*$/u;

/** A line without its marks; undefined where it has nothing else. */
function lineOf(line: string): string | undefined {
  if (BARE.test(line) && /[`~*_=|-]/u.test(line)) return undefined;
  let out = line
    .replace(/^[ \t]*(?:>[ \t]?)+/u, "")
    .replace(/^[ \t]*#{1,6}[ \t]+/u, "")
    .replace(/[ \t]+#+[ \t]*$/u, "")
    .replace(/^([ \t]*)[-*+][ \t]+(?:\[[ xX]\][ \t]+)?/u, "$1• ");
  if (/^[ \t]*\|.*\|[ \t]*$/u.test(out)) out = cellsOf(out);
  // What is code keeps what is in it.
  return out
    .split(/(`+[^`]+`+)/u)
    .map((part) => (/^`+[^`]+`+$/u.test(part) ? part.replace(/^`+|`+$/gu, "") : proseOf(part)))
    .join("");
}

/** The cells of a row of a table that have something in them. */
const cellsOf = (row: string): string =>
  row
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim())
    .filter(Boolean)
    .join(" · ");

const proseOf = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\](?:\([^)\s]*(?:[ \t]+"[^"]*")?\)|\[[^\]]*\])/gu, "$1")
    .replace(/<(?:https?:[^>\s]+|\/?[a-z][a-z0-9-]*(?:[ \t][^<>]*)?\/?)>/giu, (tag) =>
      /^<https?:/iu.test(tag) ? tag.slice(1, -1) : "",
    )
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/gu, "$2")
    .replace(/(?<![\p{L}\p{N}*\\])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, "$1")
    .replace(/(?<![\p{L}\p{N}_\\])_(?=\S)([^_\n]+?)(?<=\S)_(?![\p{L}\p{N}_])/gu, "$1")
    .replace(/~~(?=\S)(.+?)(?<=\S)~~/gu, "$1")
    .replace(/\\([\\`*_{}[\]()#+\-.!<>|~])/gu, "$1");

/** Whether a hit is prose, whose marks say nothing: source code and its blocks are shown as they stand. */
export const isProse = ({ language, content_type }: { language?: string | null; content_type: string }): boolean =>
  !language && content_type !== "code_block" && content_type !== "code";

export const plain = (text: string): string =>
  text
    .replace(/<!--[\s\S]*?(?:-->|$)/gu, "")
    .split("\n")
    .flatMap((line) => lineOf(line) ?? [])
    .join("\n");
