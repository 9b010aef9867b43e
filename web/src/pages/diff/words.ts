// Which words differ between two texts. Words are those of the language: Chinese has no spaces between its own.

export interface Part {
  text: string;
  kind: "same" | "added" | "removed";
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** How long one comparison may take, in milliseconds; texts that take longer are shown one after the other. */
const PATIENCE = 250;
/** Lines that have less than this share of their text in common are others, not edited ones. */
const ALIKE = 0.3;

type Lists = typeof import("diff").diffArrays;

function compareLists(diffArrays: Lists, before: string[], after: string[]): Part[] {
  const changes = diffArrays(before, after, { timeout: PATIENCE });
  if (!changes)
    return [
      { text: before.join(""), kind: "removed" },
      { text: after.join(""), kind: "added" },
    ];
  return changes.map(({ value, added, removed }) => ({
    text: value.join(""),
    kind: added ? "added" : removed ? "removed" : "same",
  }));
}

/** Whole lines are compared first, then the words of lines that took the place of others. */
export async function compareWords(before: string, after: string): Promise<Part[]> {
  const { diffArrays } = await import("diff");
  const linesOf = (text: string) => text.split(/(?<=\n)/u);
  const lines = compareLists(diffArrays, linesOf(before), linesOf(after));
  const parts: Part[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [line, next] = [lines[at]!, lines[at + 1]];
    const isPair = next && line.kind !== "same" && next.kind !== "same" && line.kind !== next.kind;
    if (!isPair) {
      parts.push(line);
      continue;
    }
    at += 1;
    const [old, now] = line.kind === "removed" ? [line.text, next.text] : [next.text, line.text];
    const words = merged(compareLists(diffArrays, wordsOf(old), wordsOf(now)));
    const common = words.reduce((sum, { text, kind }) => sum + (kind === "same" ? text.trim().length : 0), 0);
    if (common < ALIKE * Math.min(old.trim().length, now.trim().length))
      parts.push({ text: old, kind: "removed" }, { text: now, kind: "added" });
    else parts.push(...words);
  }
  return merged(parts);
}

/** Joins parts that only a space or a sign divides: whole phrases read better than shreds. */
export function merged(parts: Part[]): Part[] {
  const out: Part[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) out.push({ text: removed, kind: "removed" });
    if (added) out.push({ text: added, kind: "added" });
    removed = added = "";
  };
  parts.forEach(({ text, kind }, at) => {
    if (kind === "removed") removed += text;
    else if (kind === "added") added += text;
    else {
      const isShred = removed && added && at < parts.length - 1 && text.length <= 2 && !/[\p{L}\p{N}\n]/u.test(text);
      if (isShred) {
        removed += text;
        added += text;
        return;
      }
      flush();
      out.push({ text, kind });
    }
  });
  flush();
  return out;
}

/** Most characters that are shown of a part that is the same on both sides, or of one that is not. */
const SAME = 160;
const OTHER = 1200;

/** The parts with what is long left out in their middle, between words. */
export function shortened(parts: Part[]): (Part & { left?: number })[] {
  return parts.flatMap(({ text, kind }): (Part & { left?: number })[] => {
    const most = kind === "same" ? SAME : OTHER;
    if (text.length <= most * 1.5) return [{ text, kind }];
    const words = wordsOf(text);
    let [first, last, head, tail] = [0, words.length, 0, 0];
    while (first < last && head + words[first]!.length <= most / 2) head += words[first++]!.length;
    while (last > first && tail + words[last - 1]!.length <= most / 2) tail += words[--last]!.length;
    const middle = words.slice(first, last).join("");
    return [
      { text: words.slice(0, first).join(""), kind },
      { text: "", kind, left: Array.from(middle).length },
      { text: words.slice(last).join(""), kind },
    ];
  });
}
