// Where a text has the terms that a search matched. Terms are stems, whole identifiers and pairs of characters, as the analysis of
// the index makes them; here they are found again in what people read.

export type Kind = "" | "term" | "common";

export interface Run {
  text: string;
  kind: Kind;
}

/** Words that nearly every text has: they count little in the relevance, and are marked as faintly. */
const COMMON = new Set(
  (
    "a about after all also an and any are as at be been before being between but by can could did do does done during each for from had has have he how i if in "
    + "into is it its many may me might more most much must my no not of on one or our she should so some such than that the their them then there these they "
    + "this those to us use was we were what when where which who whose why will with would you your "
    + "а без более бы был была были было быть в вам вас во вот все вы где да для до его ее если есть еще же за и из или им их к как какие какой когда которые который "
    + "кто ли между мне можно мы на над нам нас не него нет ни них но о об он она они от по под при с со так также то того тоже только тот у уже чем что чтобы эта эти это этого этой этом этот я"
  ).split(" "),
);
const COMMON_CHARACTERS =
  /[的了是在和与或有也不这那什么怎哪谁何为被把从到对于以及其之吗呢吧着过个们你我他她它您将就都而且但如可能会要用些多少几时]/u;

const isCommon = (term: string): boolean =>
  COMMON.has(term) || (UNSPACED.test(term) && term.length > 1 && COMMON_CHARACTERS.test(term));

const UNSPACED =
  /^[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;

/** Letters that no mark makes, and those that they are typed as. */
const LETTERS: Record<string, string> = {
  æ: "ae",
  œ: "oe",
  þ: "th",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  ŧ: "t", // prettier-ignore
  آ: "ا",
  أ: "ا",
  إ: "ا",
  ٱ: "ا",
  ى: "ي",
  ی: "ي",
  ة: "ه",
  ک: "ك", // prettier-ignore
};

const lower = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ς", "σ")
    .replaceAll("ё", "е")
    .replaceAll("\u0307", "");

/** As the analysis folds: in lower case, without the marks that people leave out. */
const fold = (text: string): string =>
  lower(text)
    .replace(
      /[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]/gu,
      (c) => LETTERS[c] ?? c.normalize("NFD").replace(/\p{M}/gu, ""),
    )
    .replace(/[آأإٱىیةک]/gu, (c) => LETTERS[c] ?? c)
    .replace(/[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/gu, "");

/** A Russian word without the vowel that other forms of it lack: `список` and `списка`. */
const withoutFleeting = (word: string): string =>
  word.replace(/([аеиоуыэюя]?)[ое](?=[кц]$)/u, (_, vowel: string) => (vowel ? `${vowel}й` : ""));

/** Endings that follow a short stem; after a longer one any short ending may. */
const SHORT_ENDING = /^(?:(.)?(?:e|s|es|ed|er|ers|ing|ings|ly|d)|(?:e|s|ed|ing)['’]?s?)$/u;

/** Whether a word, folded, is one of a stem's. */
function isOf(stem: string, word: string): boolean {
  if (word === stem || (/[кц]$/u.test(word) && withoutFleeting(word) === stem)) return true;
  // `retri` is the stem of `retry` and `retries`.
  if (stem.endsWith("i") && word === `${stem.slice(0, -1)}y`) return true;
  if (!word.startsWith(stem)) return false;
  const ending = word.slice(stem.length);
  if (/[а-я]/u.test(stem)) return stem.length >= 3 ? ending.length <= 6 : ending.length <= 2 && stem.length === 2;
  if (!/^[a-z]+$/u.test(stem) || !/^[a-z]+$/u.test(word)) return false;
  if (stem.length < 2) return false;
  return stem.length >= 4 ? ending.length <= 7 : SHORT_ENDING.test(ending);
}

const JOINED =
  /[\p{L}\p{N}\p{M}]+(?:[-./&\u2010\u2011][\p{L}\p{N}\p{M}]+)+|\p{N}{1,3}(?:[ ,'’\u00a0\u2009\u202f]\p{N}{3})+/gu;

interface Found {
  from: number;
  to: number;
  kind: Kind;
}

/** Text in runs, each with what it matches. */
export function highlight(text: string, terms: string[]): Run[] {
  if (terms.length === 0) return text ? [{ text, kind: "" }] : [];
  const pairs = terms.filter((term) => UNSPACED.test(term));
  const words = terms.filter((term) => !UNSPACED.test(term));
  const kinds = new Map(terms.map((term) => [term, isCommon(term) ? ("common" as const) : ("term" as const)]));
  const whole = new Set(words);
  const found: Found[] = [];
  const known = new Map<string, Kind>();
  const kindOf = (word: string): Kind => {
    let kind = known.get(word);
    if (kind === undefined) {
      const folded = fold(word);
      const fits = whole.has(folded) ? [folded] : words.filter((stem) => isOf(stem, folded));
      kind = fits.length === 0 ? "" : fits.some((term) => kinds.get(term) === "term") ? "term" : "common";
      known.set(word, kind);
    }
    return kind;
  };
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
    if (pairs.length > 0) {
      const folded = lower(run);
      // Where folding changes lengths, places in it are not those of the text.
      const where = folded.length === run.length ? folded : run;
      for (const pair of pairs) {
        for (let at = where.indexOf(pair); at >= 0; at = where.indexOf(pair, at + 1)) {
          found.push({ from: index + at, to: index + at + pair.length, kind: kinds.get(pair) ?? "term" });
        }
      }
    }
    if (words.length === 0) continue;
    for (const { 0: word, index: inner } of run.matchAll(
      /[^\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]+/gu,
    )) {
      const from = index + inner;
      const kind = kindOf(word);
      if (kind) {
        found.push({ from, to: from + word.length, kind });
        continue;
      }
      const parts = [...word.matchAll(/\p{Lu}+(?![\p{Ll}])|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}+/gu)];
      if (parts.length === 1 && parts[0]![0].length === word.length) continue;
      for (const { 0: part, index: place } of parts) {
        const kind = kindOf(part);
        if (kind) found.push({ from: from + place, to: from + place + part.length, kind });
      }
    }
  }
  if (words.length > 0) {
    // Words that are also written as one: `e-mail`, `10,000`.
    for (const { 0: compound, index } of text.matchAll(JOINED)) {
      const kind = kindOf(compound.replace(/[^\p{L}\p{N}\p{M}]/gu, ""));
      if (kind) found.push({ from: index, to: index + compound.length, kind });
    }
  }
  // Names with symbols: `c++`, `--no-cache`.
  const lowered = text.toLowerCase();
  for (const name of words.filter((word) => /[+#.@$-]/u.test(word))) {
    // Where lower case changes lengths, places in it are not those of the text.
    if (lowered.length !== text.length) break;
    for (let at = lowered.indexOf(name); at >= 0; at = lowered.indexOf(name, at + name.length)) {
      found.push({ from: at, to: at + name.length, kind: "term" });
    }
  }
  return runsOf(text, found);
}

/** Runs of a text by what was found in it; what overlaps is one, and says the stronger of both. */
function runsOf(text: string, found: Found[]): Run[] {
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  const joined: Found[] = [];
  for (const next of found) {
    const last = joined.at(-1);
    if (last && next.from < last.to) {
      last.to = Math.max(last.to, next.to);
      if (next.kind === "term") last.kind = "term";
    } else joined.push({ ...next });
  }
  const out: Run[] = [];
  let at = 0;
  for (const { from, to, kind } of joined) {
    if (from > at) out.push({ text: text.slice(at, from), kind: "" });
    out.push({ text: text.slice(from, to), kind });
    at = to;
  }
  if (at < text.length) out.push({ text: text.slice(at), kind: "" });
  return out;
}

/** The part of a text that is worth seeing first: from the line before its first match, if that is far below. */
export function excerpt(
  text: string,
  terms: string[],
  lines = 6,
  length = 900,
): { text: string; before: boolean; after: boolean } {
  let from = 0;
  let at = 0;
  let row = 0;
  for (const { text: run, kind } of highlight(text, terms)) {
    if (kind === "term") {
      if (row >= lines - 1 || at > 420) {
        const line = text.lastIndexOf("\n", at - 1);
        const before = line > 0 ? text.lastIndexOf("\n", line - 1) : -1;
        from = at - (before + 1) < 300 ? before + 1 : at - (line + 1) < 300 ? line + 1 : at - 120;
      }
      break;
    }
    at += run.length;
    row += run.split("\n").length - 1;
  }
  // Never between the halves of a character.
  if (from > 0 && /[\udc00-\udfff]/u.test(text[from] ?? "")) from -= 1;
  let to = Math.min(text.length, from + length);
  if (to < text.length && /[\ud800-\udbff]/u.test(text[to - 1] ?? "")) to -= 1;
  return { text: text.slice(from, to), before: from > 0, after: to < text.length };
}
