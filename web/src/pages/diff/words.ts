// Which words differ between two texts. Words are those of the language: Chinese has no spaces between its own.

export interface Part {
  text: string;
  kind: "same" | "added" | "removed";
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const wordsOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** The longest that is compared, in milliseconds; texts that take longer are shown one after the other. */
const PATIENCE = 250;

export async function compareWords(before: string, after: string): Promise<Part[]> {
  const { diffArrays } = await import("diff");
  const changes = diffArrays(wordsOf(before), wordsOf(after), { timeout: PATIENCE });
  if (!changes) return [{ text: before, kind: "removed" }, { text: after, kind: "added" }];
  return merged(changes.map(({ value, added, removed }) => ({ text: value.join(""), kind: added ? "added" : removed ? "removed" : "same" })));
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
