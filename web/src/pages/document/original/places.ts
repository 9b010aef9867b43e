// Where the text of a chunk stands in a text that was drawn of the same document: on a page of a PDF, or in a web page.
// Blanks, hyphens and the order of lines differ there, so runs of letters are compared.

/** Letters in a run: fewer occur everywhere, more break at every hyphen that a converter undid. */
const RUN = 8;
/** Letters between two runs that are marked with them. */
const GAP = 4;

/** Letters and digits of a text in one form of case and width, and the offset of each. */
function lettersOf(text: string): { letters: string; offsets: number[] } {
  let letters = "";
  const offsets: number[] = [];
  let offset = 0;
  for (const c of text) {
    if (/[\p{L}\p{N}]/u.test(c)) {
      const folded = c.normalize("NFKC").toLowerCase();
      letters += folded;
      for (let unit = 0; unit < folded.length; unit += 1) offsets.push(offset);
    }
    offset += c.length;
  }
  return { letters, offsets };
}

/**
 * The stretches of `text` that `content` stands in, as offsets from and to; none where it does not. `near`, from 0 to 1, says
 * where it is expected: of equal places the nearest is taken.
 */
export function placesIn(text: string, content: string, near = 0): [number, number][] {
  const { letters, offsets } = lettersOf(text);
  const wanted = lettersOf(content).letters;
  const run = Math.min(RUN, wanted.length, letters.length);
  if (run === 0) return [];
  const runs = new Set<string>();
  for (let at = 0; at + run <= wanted.length; at += 1) runs.add(wanted.slice(at, at + run));
  const found = new Uint8Array(letters.length);
  for (let at = 0; at + run <= letters.length; at += 1)
    if (runs.has(letters.slice(at, at + run))) found.fill(1, at, at + run);

  // The same words may stand elsewhere: the content itself, or the stretch of its length that has most of it.
  const size = Math.min(letters.length, wanted.length);
  const goal = near * (letters.length - size);
  let count = 0;
  let [most, from] = [0, 0];
  for (let end = 1; end <= letters.length; end += 1) {
    count += found[end - 1]!;
    if (end > size) count -= found[end - 1 - size]!;
    const start = Math.max(0, end - size);
    // Where a text repeats itself, every letter is of some run.
    if (count === wanted.length && !letters.startsWith(wanted, start)) continue;
    if (count > most || (count === most && Math.abs(start - goal) < Math.abs(from - goal)))
      [most, from] = [count, start];
  }
  const places: [number, number][] = [];
  let last = -Infinity;
  for (let at = from; most > 0 && at < from + size; at += 1) {
    if (!found[at]) continue;
    const end = offsets[at]! + 1;
    if (at - last <= GAP) places[places.length - 1]![1] = end;
    else places.push([offsets[at]!, end]);
    last = at;
  }
  return places;
}
