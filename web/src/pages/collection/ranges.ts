// Ranges of token counts: which are counted, how they are drawn, and which of them a choice of sizes covers.

import type { Schemas } from "../../api/client.ts";
import { startsOf } from "../../chunks/bins.ts";
import { levelOf, levelTone } from "../../chunks/levels.ts";
import type { Bin } from "../../ui/histogram.ts";

export type Statistics = Schemas["Statistics"];

const BARS = 24;
const WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export interface Range {
  from: number;
  to: number | null;
  count: number;
}

export const rangesOf = ({ token_histogram }: Statistics): Range[] => {
  const used = token_histogram.findLastIndex(({ chunks }) => chunks > 0);
  return token_histogram
    .slice(0, Math.max(1, used + 1))
    .map(({ from, to, chunks }) => ({ from, to: to ?? null, count: chunks }));
};

/** Ranges of equal width up to the limit to be counted; none where the ranges that the server always answers must do. */
export function evenRanges(statistics: Statistics, limit: number | null): Range[] | null {
  const { count, max, p99 } = statistics.tokens;
  if (count === 0) return null;
  const end = limit ?? Math.max(8, Math.min(max, Math.ceil(p99 * 1.25)));
  if (end / WIDTHS.at(-1)! > BARS) return null;
  const starts = startsOf(end, max, BARS, WIDTHS);
  return starts.map((from, at) => ({ from, to: from > end ? null : (starts[at + 1] ?? end + 1) - 1, count: 0 }));
}

export const binsOf = (
  ranges: Range[],
  limit: number | null,
  nameOf: (level: ReturnType<typeof levelOf>) => string,
): Bin[] =>
  ranges.map(({ from, to, count }) => {
    const level = levelOf(from);
    return { from, to, count, hatched: limit !== null && from > limit, tone: levelTone(level), name: nameOf(level) };
  });

/** The bars that a choice of sizes covers. */
export function barsOf(ranges: Range[], from: number | null, to: number | null): [number, number] | null {
  if (from === null && to === null) return null;
  const first = Math.max(
    0,
    ranges.findLastIndex((range) => range.from <= (from ?? 0)),
  );
  const last = to === null ? ranges.length - 1 : ranges.findIndex((range) => range.to === null || range.to >= to);
  return [Math.min(first, ranges.length - 1), last < 0 ? ranges.length - 1 : Math.max(first, last)];
}
