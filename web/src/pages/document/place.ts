// Places where a chunk can be split, in UTF-16 units of the source.

import type { Layout } from "../../chunks/layout.ts";

/** The line, from 0, that a place is in. */
export function lineOf({ lineStart, lines }: Layout, place: number): number {
  let [low, high] = [0, lines - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lineStart[middle]! <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Line and character of a place, both from 1, and back. */
export function positionOf(layout: Layout, place: number): [line: number, character: number] {
  const line = lineOf(layout, place);
  return [line + 1, Array.from(layout.source.slice(layout.lineStart[line], place)).length + 1];
}
export function placeAt({ source, lineStart, lines }: Layout, line: number, character: number): number {
  const at = Math.min(Math.max(1, line), lines);
  const [from, to] = [lineStart[at - 1]!, lineStart[at]!];
  let place = from;
  for (let n = 1; n < character && place < to; n += 1) place += (source.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
  return place;
}

/** What a chunk becomes if it is split at a place. */
export const pieces = ({ source, start, end }: Layout, chunk: number, place: number): [string, string] => [
  source.slice(start[chunk], place),
  source.slice(Math.max(place, start[chunk]!), end[chunk]),
];

/** Whether text of the chunk is before and after a place. */
export const isInside = (layout: Layout, chunk: number, place: number): boolean =>
  place > layout.start[chunk]!
  && place < layout.end[chunk]!
  && pieces(layout, chunk, place).every((text) => text.trim() !== "");

/** A place near the middle of a chunk: where one of the lines begins that are given, from 1, else any line, else a sentence. */
export function middleOf(layout: Layout, chunk: number, lines?: Set<number> | null): number {
  const { source, start, end, lineStart } = layout;
  const [from, to] = [start[chunk]!, end[chunk]!];
  const places: number[] = [];
  for (let line = lineOf(layout, from) + 1; line < layout.lines && lineStart[line]! < to; line += 1)
    if (/^[^\S\r\n]*\S/u.test(source.slice(lineStart[line], lineStart[line]! + 200))) places.push(lineStart[line]!);
  if (places.length === 0)
    for (const { index } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(source.slice(from, to)))
      places.push(from + index);
  const off = (place: number) => Math.abs(place - (from + to) / 2);
  const inside = places.filter((place) => isInside(layout, chunk, place));
  const named = inside.filter((place) => lines?.has(lineOf(layout, place) + 1));
  const found = (named.length > 0 ? named : inside).reduce(
    (best, place) => (best < 0 || off(place) < off(best) ? place : best),
    -1,
  );
  if (found >= 0) return found;
  const middle = (from + to) >> 1;
  return source.charCodeAt(middle) >= 0xdc00 && source.charCodeAt(middle) < 0xe000 ? middle + 1 : middle;
}

/** Bytes of a text in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Units of a row of the source before a point in it: an unseen character is shown by its code, which is longer. */
function unitsBefore(row: Element, point: Range): number {
  const code = row.querySelector("code");
  if (!code) return 0;
  const before = document.createRange();
  before.setStart(code, 0);
  before.setEnd(point.startContainer, point.startOffset);
  let units = 0;
  for (const node of before.cloneContents().childNodes) {
    if (node instanceof Element && node.matches(".unseen"))
      units += /^U\+[0-9A-F]{5}/u.test(node.textContent ?? "") ? 2 : 1;
    else if (node.nodeType !== Node.COMMENT_NODE) units += node.textContent?.length ?? 0;
  }
  return units;
}

/** Where text is selected in the source, else where the row begins that is pressed or pointed at. */
export function pointedAt(
  layout: Layout,
  list: Element | undefined,
  target: Element | null | undefined,
): number | null {
  const selection = getSelection();
  const range = selection && !selection.isCollapsed ? selection.getRangeAt(0) : null;
  const container = range?.startContainer;
  const inText = (container instanceof Element ? container : container?.parentElement)?.closest("[data-row]");
  const row = inText && list?.contains(inText) ? inText : target?.closest("[data-row]");
  if (!row || !list?.contains(row)) return null;
  const at = Number(row.getAttribute("data-row"));
  const from = layout.from[at];
  if (from === undefined) return null;
  return row === inText && range ? Math.min(layout.to[at]!, from + unitsBefore(row, range)) : from;
}
