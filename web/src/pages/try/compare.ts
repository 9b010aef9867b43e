// Two ways to cut one document: which ids stay, which come and go, and what has to be embedded.

import { binsOf } from "../../chunks/bins.ts";
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
export function binsOfBoth(before: Chunk[], after: Chunk[], unit: Unit, limit: number, nameOf: (level: ReturnType<typeof levelOf>) => string): Bin[] {
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

export function stripes(chunks: Chunk[], length: number, isKept: (chunk: Chunk) => boolean): Stripe[] {
  return chunks.map((chunk) => ({ from: chunk.start_char / Math.max(1, length), to: chunk.end_char / Math.max(1, length), kept: isKept(chunk) }));
}
