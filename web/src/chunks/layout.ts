// The rows of a source: its lines, divided where a chunk begins inside one and where a line is too long to be shown at once.
// So each row belongs to one chunk or to none, and all that is drawn of a row follows from a few numbers.

import type { Chunk } from "./types.ts";

/** Most UTF-16 units of a row. */
export const ROW = 1000;

export interface Layout {
  source: string;
  chunks: Chunk[];
  count: number;
  lines: number;
  /** Of each row: where it begins and ends in the source, without what ends its line. */
  from: Uint32Array;
  to: Uint32Array;
  /** Of each row its line, from 0. */
  line: Uint32Array;
  /** Of each row its chunk, or -1. */
  chunk: Int32Array;
  /** About how many columns each row takes; wide characters are two. */
  columns: Uint16Array;
  /** Where each line begins, and after the last the length of the source. */
  lineStart: Uint32Array;
  /** Of each chunk: where it begins and ends in UTF-16 units, its first and last row, and how much of the source before it
   * it borrows. */
  start: Uint32Array;
  end: Uint32Array;
  firstRow: Int32Array;
  lastRow: Int32Array;
  overlap: Uint32Array;
}

/** Offsets in Unicode scalar values, ascending, as offsets in UTF-16 units. */
export function toUtf16(source: string, offsets: number[]): number[] {
  if (!/[\ud800-\udbff]/u.test(source) && !/[\u{10000}-\u{10ffff}]/u.test(source)) return offsets;
  const order = offsets.map((_, at) => at).sort((a, b) => offsets[a]! - offsets[b]!);
  const out = new Array<number>(offsets.length);
  let unit = 0;
  let scalar = 0;
  for (const at of order) {
    while (scalar < offsets[at]! && unit < source.length) {
      const code = source.charCodeAt(unit);
      unit += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
      scalar += 1;
    }
    out[at] = unit;
  }
  return out;
}

/** How much of what a chunk borrows is the source right before it. */
function overlapOf(source: string, start: number, context: string): number {
  let length = 0;
  let end = context.length;
  let at = start;
  // Blank space between them may have been trimmed.
  while (end > 0 && /\s/u.test(context[end - 1]!)) end -= 1;
  while (at > 0 && /\s/u.test(source[at - 1]!)) at -= 1;
  while (length < end && length < at && source[at - 1 - length] === context[end - 1 - length]) length += 1;
  // A line or two words by chance are no overlap: it reaches the beginning of what is borrowed, or is long.
  return length >= 24 || (length > 0 && length === end && length >= 8) ? start - (at - length) : 0;
}

const isWide = (code: number) =>
  code >= 0x1100
  && (code <= 0x115f
    || (code >= 0x2e80 && code <= 0xd7a3)
    || (code >= 0xf900 && code <= 0xfaff)
    || (code >= 0xfe30 && code <= 0xfe6f)
    || (code >= 0xff00 && code <= 0xff60));

export function lay(source: string, chunks: Chunk[]): Layout {
  const n = chunks.length;
  const units = toUtf16(
    source,
    chunks.flatMap(({ start_char, end_char }) => [start_char, end_char]),
  );
  const start = Uint32Array.from({ length: n }, (_, at) => units[2 * at]!);
  const end = Uint32Array.from({ length: n }, (_, at) => units[2 * at + 1]!);
  const starts: number[] = [0];
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === 10 || (code === 13 && source.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  if (starts.length > 1 && starts.at(-1) === source.length) starts.pop();
  const lines = starts.length;
  starts.push(source.length);

  const rows: { from: number[]; to: number[]; line: number[]; chunk: number[]; columns: number[] } = {
    from: [],
    to: [],
    line: [],
    chunk: [],
    columns: [],
  };
  const firstRow = new Int32Array(n).fill(-1);
  const lastRow = new Int32Array(n).fill(-1);
  let next = 0; // The first chunk that has not begun.
  let current = -1;
  const add = (from: number, to: number, line: number) => {
    let columns = 0;
    for (let at = from; at < to; at += 1) columns += isWide(source.charCodeAt(at)) ? 2 : 1;
    const row = rows.from.length;
    const owner = current >= 0 && from < end[current]! ? current : -1;
    if (owner >= 0) {
      if (firstRow[owner]! < 0) firstRow[owner] = row;
      lastRow[owner] = row;
    }
    rows.from.push(from);
    rows.to.push(to);
    rows.line.push(line);
    rows.chunk.push(owner);
    rows.columns.push(Math.min(65_535, columns));
  };
  for (let line = 0; line < lines; line += 1) {
    let from = starts[line]!;
    let stop = starts[line + 1]!;
    while (stop > from && (source.charCodeAt(stop - 1) === 10 || source.charCodeAt(stop - 1) === 13)) stop -= 1;
    // Rows end where a chunk begins, where one ends before visible text, and where they are long.
    for (;;) {
      while (next < n && start[next]! <= from) current = next++;
      let to = stop;
      const begins = next < n ? start[next]! : Infinity;
      // Blank space before a chunk's first visible character is no row of its own.
      if (begins < to) {
        if (source.slice(from, begins).trim() === "" && from === starts[line]) {
          current = next++;
          continue;
        }
        to = begins;
      }
      if (current >= 0 && end[current]! > from && end[current]! < to && source.slice(end[current], to).trim() !== "")
        to = end[current]!;
      if (to - from > ROW) {
        to = from + ROW;
        const code = source.charCodeAt(to);
        if (code >= 0xdc00 && code < 0xe000) to += 1;
      }
      add(from, to, line);
      from = to;
      if (from >= stop) break;
    }
  }
  return {
    source,
    chunks,
    count: rows.from.length,
    lines,
    lineStart: Uint32Array.from(starts),
    from: Uint32Array.from(rows.from),
    to: Uint32Array.from(rows.to),
    line: Uint32Array.from(rows.line),
    chunk: Int32Array.from(rows.chunk),
    columns: Uint16Array.from(rows.columns),
    start,
    end,
    firstRow,
    lastRow,
    overlap: Uint32Array.from(chunks, ({ context }, at) => (context ? overlapOf(source, start[at]!, context) : 0)),
  };
}

/** The row that shows a line, from 0. */
export function rowOfLine(layout: Layout, line: number): number {
  let [low, high] = [0, layout.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.line[middle]! < line) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, layout.count - 1);
}

/** The chunk that a line, from 0, is in, or the next. */
export function chunkOfLine(layout: Layout, line: number): number {
  for (let row = rowOfLine(layout, line); row < layout.count; row += 1)
    if (layout.chunk[row]! >= 0) return layout.chunk[row]!;
  return layout.chunks.length - 1;
}

export interface Segment {
  text: string;
  /** A class of syntax colours; empty for none. */
  kind: string;
  /** The chunk that borrows it, or -1. */
  borrower: number;
  unseen: boolean;
}

/** The parts of a row, by the tokens of its line: triples of begin, end and class, from the line's begin. */
export function segments(
  layout: Layout,
  row: number,
  tokens: Uint32Array | null,
  kinds: readonly string[],
  split: (text: string) => { text: string; unseen: boolean }[],
): Segment[] {
  const { source, line, lineStart } = layout;
  const [from, to] = [layout.from[row]!, layout.to[row]!];
  const base = lineStart[line[row]!]!;
  const out: Segment[] = [];
  let hatch = to;
  let borrower = -1;
  // Overlap lies in the chunk before, rarely in those before that.
  for (
    let next = layout.chunk[row]! + 1;
    next > 0 && next <= layout.chunk[row]! + 3 && next < layout.chunks.length;
    next += 1
  ) {
    const begin = layout.start[next]! - layout.overlap[next]!;
    if (layout.overlap[next]! === 0 || layout.start[next]! < to || begin >= hatch) continue;
    hatch = Math.max(from, begin);
    borrower = next;
  }
  const put = (begin: number, end: number, kind: string) => {
    if (begin < hatch && end > hatch) {
      put(begin, hatch, kind);
      begin = hatch;
    }
    if (begin >= end) return;
    for (const { text, unseen } of split(source.slice(begin, end)))
      out.push({ text, kind, unseen, borrower: begin >= hatch ? borrower : -1 });
  };
  let at = from;
  for (let n = 0; tokens && n < tokens.length; n += 3) {
    const begin = Math.max(from, base + tokens[n]!);
    const end = Math.min(to, base + tokens[n + 1]!);
    if (end <= at) continue;
    if (begin >= to) break;
    put(at, Math.max(at, begin), "");
    put(Math.max(at, begin), end, kinds[tokens[n + 2]!] ?? "");
    at = end;
  }
  put(at, to, "");
  return out;
}
