// Sizes of chunks in bins of equal width, for a histogram.

import type { Bin } from "../ui/histogram.ts";
import { levelOf, levelTone } from "./levels.ts";

const WIDTHS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];

/** Where bars begin so that the axis ends at the limit: of equal width up to it, and one for all that is over it, if anything is. */
export function startsOf(limit: number, largest: number, most: number, widths = WIDTHS): number[] {
  const width = widths.find((width) => limit / width <= most) ?? Math.ceil(limit / most);
  const starts = Array.from({ length: Math.max(1, Math.ceil(limit / width)) }, (_, at) => at * width);
  return largest > limit ? [...starts, limit + 1] : starts;
}

/** Bins of sizes up to the limit. Levels colour them, of tokens only. */
export function binsOf(
  sizes: number[],
  limit: number,
  unit: "tokens" | "chars",
  nameOf: (level: ReturnType<typeof levelOf>) => string,
  most = 28,
): Bin[] {
  const largest = sizes.reduce((max, size) => Math.max(max, size), 0);
  const starts = startsOf(limit, largest, most);
  const counts = new Array<number>(starts.length).fill(0);
  for (const size of sizes) counts[starts.findLastIndex((from) => from <= size)]! += 1;
  return starts.map((from, at) => {
    const level = levelOf(from);
    return {
      from,
      to: from > limit ? null : (starts[at + 1] ?? limit + 1) - 1,
      count: counts[at]!,
      hatched: from > limit,
      ...(unit === "tokens" ? { tone: levelTone(level), name: nameOf(level) } : {}),
    };
  });
}

/** Whether a size is in the bins from one to another. */
export function isInRange(size: number, bins: Bin[], range: [number, number] | null): boolean {
  if (!range) return true;
  const [first, last] = [bins[range[0]], bins[range[1]]];
  return !first || !last || (size >= first.from && (last.to === null || size <= last.to));
}
