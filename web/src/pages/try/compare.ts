// Two ways to cut one document: which ids stay, which come and go, and what has to be embedded.

import { binsOf } from "../../chunks/bins.ts";
import type { Layout } from "../../chunks/layout.ts";
import type { levelOf } from "../../chunks/levels.ts";
import type { Chunk } from "../../chunks/types.ts";
import type { Bin } from "../../ui/histogram.ts";

export type Unit = "tokens" | "chars";
export const sizeOf = (chunk: Chunk, unit: Unit): number => (unit === "tokens" ? chunk.token_count : chunk.char_count);

export interface Comparison {
  /** Positions of new chunks whose id is old, and of those whose id is not. */
  kept: number[];
  fresh: number[];
  /** Positions of old chunks whose id is gone. */
  gone: number[];
  /** Of the new chunks: texts that no old chunk has, each once, and their tokens. */
  texts: number;
  tokens: number;
}

export function compare(before: Chunk[], after: Chunk[]): Comparison {
  const old = new Set(before.map(({ chunk_id }) => chunk_id));
  const now = new Set(after.map(({ chunk_id }) => chunk_id));
  const known = new Set(before.map(({ text }) => text));
  const result: Comparison = { kept: [], fresh: [], gone: [], texts: 0, tokens: 0 };
  after.forEach(({ chunk_id, text, token_count }, at) => {
    result[old.has(chunk_id) ? "kept" : "fresh"].push(at);
    if (known.has(text)) return;
    known.add(text);
    result.texts += 1;
    result.tokens += token_count;
  });
  before.forEach(({ chunk_id }, at) => now.has(chunk_id) || result.gone.push(at));
  return result;
}

/** Sizes of both in the same bins: those of now, and outlined those of before. */
export function binsOfBoth(
  before: Chunk[],
  after: Chunk[],
  unit: Unit,
  limit: number,
  nameOf: (level: ReturnType<typeof levelOf>) => string,
): Bin[] {
  const sizes = [before, after].map((chunks) => chunks.map((chunk) => sizeOf(chunk, unit)));
  const bins = binsOf([...sizes[0]!, ...sizes[1]!], limit, unit, nameOf);
  const width = bins.length > 1 ? bins[1]!.from : 1;
  const count = (list: number[]) => {
    const counts = new Array<number>(bins.length).fill(0);
    for (const size of list) counts[Math.min(bins.length - 1, Math.floor(size / width))]! += 1;
    return counts;
  };
  const [old, now] = [count(sizes[0]!), count(sizes[1]!)];
  return bins.map((bin, at) => ({ ...bin, count: now[at]!, before: old[at]! }));
}

/** A chunk's place as the part of the source that it takes, for pictures of a whole document. */
export interface Stripe {
  from: number;
  to: number;
  /** Whether both sides have it. */
  kept: boolean;
}

export const stripes = (
  start: ArrayLike<number>,
  end: ArrayLike<number>,
  length: number,
  isKept: (at: number) => boolean,
): Stripe[] =>
  Array.from(start, (from, at) => ({
    from: from / Math.max(1, length),
    to: end[at]! / Math.max(1, length),
    kept: isKept(at),
  }));

/** Of each row of a source: which of the chunks it is in, by where they begin and end, or -1. */
export function chunkOfRows(
  layout: Pick<Layout, "source" | "count" | "from" | "to">,
  start: ArrayLike<number>,
  end: ArrayLike<number>,
): Int32Array {
  const rows = new Int32Array(layout.count);
  let at = -1;
  for (let row = 0; row < layout.count; row += 1) {
    let place = layout.from[row]!;
    const to = layout.to[row]!;
    // A chunk begins at its first visible character: indentation before it is its line's.
    while (place < to && (layout.source.charCodeAt(place) === 32 || layout.source.charCodeAt(place) === 9)) place += 1;
    while (at + 1 < start.length && start[at + 1]! <= place) at += 1;
    rows[row] = at >= 0 && end[at]! > place ? at : -1;
  }
  return rows;
}
