// Sizes of chunks in bins of equal width, for a histogram.

import type { Bin } from "../ui/histogram.ts";
import { levelOf, levelTone } from "./levels.ts";

const WIDTHS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];

/** Bins of sizes: what is far over the limit shares the last, or it would flatten the rest. Levels colour them, of tokens only. */
export function binsOf(
  sizes: number[],
  limit: number,
  unit: "tokens" | "chars",
  nameOf: (level: ReturnType<typeof levelOf>) => string,
  most = 28,
): Bin[] {
  const largest = sizes.reduce((max, size) => Math.max(max, size), 0);
  const top = Math.max(1, Math.min(largest, Math.ceil(limit * 1.25)));
  const width = WIDTHS.find((width) => top / width <= most) ?? Math.ceil(top / most);
  const count = Math.floor(top / width) + 1;
  const counts = new Array<number>(count).fill(0);
  for (const size of sizes) counts[Math.min(count - 1, Math.floor(size / width))]! += 1;
  return counts.map((n, at) => {
    const from = at * width;
    const isOpen = at === count - 1 && largest >= count * width;
    const level = levelOf(from);
    return {
      from,
      to: isOpen ? null : from + width - 1,
      count: n,
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
