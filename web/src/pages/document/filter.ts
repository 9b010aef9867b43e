// Which chunks of a document a filter lets pass: by text, found in the source at once for all of them, and by what they are.

import type { Layout } from "../../chunks/layout.ts";
import type { Chunk } from "../../chunks/types.ts";
import type { Overlay } from "./data.svelte.ts";

export const SHOWS = ["all", "enabled", "disabled", "changed", "review"] as const;
export type Show = (typeof SHOWS)[number];

export interface Filter {
  text: string;
  show: Show;
  cut: string;
  levels: Set<string>;
  /** Least and greatest size; null where there is no bound. */
  size: [number, number | null] | null;
}

/** Lower case without a change of length, so that positions stay what they are. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (character) =>
    character.toLowerCase().length === character.length ? character.toLowerCase() : character,
  ).join("");
}

/** Chunks whose span in the source holds the text, whole. */
export function findInSource(
  folded: string,
  wanted: string,
  { start, end }: Pick<Layout, "start" | "end">,
): Set<number> {
  const found = new Set<number>();
  let next = 0;
  for (let at = folded.indexOf(wanted); at >= 0;) {
    while (next < end.length && end[next]! < at + wanted.length) next += 1;
    if (next >= end.length) break;
    // Windows overlap: later chunks may hold it too.
    for (let chunk = next; chunk < end.length && start[chunk]! <= at; chunk += 1)
      if (end[chunk]! >= at + wanted.length) found.add(chunk);
    // Where the chunk after does not overlap, one match in a chunk is enough.
    const stop = end[next]! - wanted.length + 1;
    at = folded.indexOf(
      wanted,
      start[next]! <= at && (start[next + 1] ?? Infinity) >= end[next]! ? Math.max(at + 1, stop) : at + 1,
    );
  }
  return found;
}

export const needsReview = (overlay: Overlay | undefined): boolean =>
  overlay?.state === "carried" || overlay?.state === "conflict";

/** Positions of the chunks that pass, in order. */
export function passing(
  chunks: Chunk[],
  layout: Layout,
  folded: () => string,
  overlays: Map<string, Overlay>,
  filter: Filter,
  sizeOf: (chunk: Chunk) => number,
  boundaries = new Map<string, Overlay[]>(),
): number[] {
  const wanted = fold(filter.text.trim());
  const inText = wanted ? findInSource(folded(), wanted, layout) : null;
  const isSaid = (chunk: Chunk): boolean => {
    if (
      chunk.chunk_id.startsWith(wanted)
      || `#${chunk.chunk_index}` === wanted
      || fold(chunk.section_path.join(" › ")).includes(wanted)
    )
      return true;
    const overlay = overlays.get(chunk.chunk_id);
    return (
      overlay !== undefined
      && [overlay.text ?? "", ...overlay.keywords, ...overlay.pins].some((text) => fold(text).includes(wanted))
    );
  };
  const isShown = (chunk: Chunk): boolean => {
    switch (filter.show) {
      case "enabled":
        return chunk.enabled !== false;
      case "disabled":
        return chunk.enabled === false;
      case "changed":
        return overlays.has(chunk.chunk_id) || boundaries.has(chunk.chunk_id);
      case "review":
        return needsReview(overlays.get(chunk.chunk_id)) || (boundaries.get(chunk.chunk_id) ?? []).some(needsReview);
      default:
        return true;
    }
  };
  const out: number[] = [];
  chunks.forEach((chunk, at) => {
    const size = filter.size ? sizeOf(chunk) : 0;
    const passes =
      (!filter.cut || chunk.cut === filter.cut)
      && (!filter.levels.size || filter.levels.has(chunk.token_level))
      && isShown(chunk)
      && (!filter.size || (size >= filter.size[0] && (filter.size[1] === null || size <= filter.size[1])))
      && (!inText || inText.has(at) || isSaid(chunk));
    if (passes) out.push(at);
  });
  return out;
}
