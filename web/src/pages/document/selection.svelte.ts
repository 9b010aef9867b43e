// What is selected, marked, pointed at and seen of a document's chunks, and how that follows the address, the keys, the filter,
// and chunks as they arrive.

import { tick, untrack } from "svelte";
import { chunkOfLine, type Layout } from "../../chunks/layout.ts";
import type { Chunk, OutlineRow } from "../../chunks/types.ts";

/** The chunks that have arrived. */
export interface Arrived {
  readonly chunks: Chunk[];
  /** Positions of chunks by id. */
  readonly positions: Map<string, number>;
  readonly layout: Layout | undefined;
  /** Whether all have. */
  readonly complete: boolean;
}

/** What a selection depends on. */
export interface Surroundings {
  /** The chunk and the line that the address names; an empty string and 0 for none. */
  chunk: () => string;
  line: () => number;
  /** Writes a chunk to the address in place of what it names; an empty string for none. */
  write: (chunk_id: string) => void;
  /** Positions that pass the filter, in order; null while all do. */
  shown: () => number[] | null;
  /** Called when the address names a chunk that the document does not have. */
  onmissing: () => void;
}

interface Cards {
  toChunk(at: number, align?: "nearest" | "center"): void;
  toggleMark(range: boolean): void;
}
interface Lines {
  toChunk(at: number): void;
  toLine(line: number, align?: "center" | "start"): void;
}

/** Browsers allow few changes of the address a second: it follows when keys rest for this many milliseconds. */
const REST = 120;

export class Selection {
  /** Position of the selected chunk, or -1. */
  at = $state(-1);
  /** Position of the chunk that is pointed at, or -1. */
  hovered = $state(-1);
  /** The section that is pointed at. */
  section = $state.raw<OutlineRow | null>(null);
  /** Ids of the chunks that are marked for a change of several. */
  marked = $state.raw(new Set<string>());
  /** The first and the last line of the source in sight. */
  seen = $state.raw<[number, number]>([1, 1]);
  /** The views, while they are there. */
  list = $state.raw<Cards>();
  source = $state.raw<Lines>();

  readonly chunk = $derived.by(() => this.data.chunks[this.at]);
  /** The line that the outline shows: where one points, else the selection while it is in sight, else the first in sight. */
  readonly line = $derived.by(() => {
    const [from, to] = this.seen;
    if (this.hovered >= 0) return this.data.chunks[this.hovered]?.start_line ?? 0;
    return this.chunk && this.chunk.start_line <= to && this.chunk.end_line >= from ? this.chunk.start_line : from;
  });
  /** Whether a chunk begins in the section that is pointed at. */
  readonly isNear = $derived.by(() => {
    const row = this.section;
    if (!row) return undefined;
    return (at: number) => {
      const line = this.data.chunks[at]?.start_line ?? 0;
      return line >= row.start_line && line <= row.end_line;
    };
  });

  /** The id that is in the address, or will be. */
  #written = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What was selected when the end was asked for before all chunks had arrived, or -1. */
  #ended = -1;

  constructor(
    readonly data: Arrived,
    readonly around: Surroundings,
  ) {
    const chunk = $derived(around.chunk());
    const line = $derived(around.line());
    const cut = $derived(data.layout?.from);
    $effect(() => {
      const address = [chunk, line] as const;
      void data.complete;
      if (cut) untrack(() => this.follow(...address));
    });
  }

  /** Leaves the address to what is written to it now. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Selects a chunk; `views` are those that scroll to it. */
  select(at: number, views: { list?: boolean; source?: boolean } = { list: true, source: true }): void {
    // The first that is selected takes room from the list.
    const opens = !this.#written;
    this.at = at;
    this.#written = this.data.chunks[at]?.chunk_id ?? "";
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.around.write(this.#written);
    }, REST);
    if (at < 0) return;
    void tick().then(() => {
      if (views.list || opens) this.list?.toChunk(at);
      if (views.source) this.source?.toChunk(at);
    });
  }

  /** Follows what the address names, and what has arrived. */
  follow(chunk_id: string, line: number): void {
    const { complete, chunks, layout, positions } = this.data;
    this.#reachEnd();
    // What was selected is not in the address yet; it holds, whatever comes meanwhile.
    if (this.#timer !== undefined || !layout) return;
    if (!chunk_id && line > 0 && (complete || line <= (chunks.at(-1)?.end_line ?? 0)))
      return this.#show(chunkOfLine(layout, line - 1), line);
    if (chunk_id === this.#written) return;
    const at = positions.get(chunk_id);
    if (at !== undefined) return this.#show(at);
    if (!chunk_id) this.at = -1;
    else if (complete) this.around.onmissing();
    else return;
    this.#written = chunk_id;
  }

  #show(at: number, line?: number): void {
    if (at < 0) return;
    this.at = at;
    this.#written = this.data.chunks[at]?.chunk_id ?? "";
    // The lists know their heights a moment after they are there.
    void tick().then(() =>
      requestAnimationFrame(() => {
        this.list?.toChunk(at, "center");
        if (line) this.source?.toLine(line);
        else this.source?.toChunk(at);
      }),
    );
  }

  /** The last chunk was asked for: while not all have arrived, it is selected when they have, unless another is until then. */
  toEnd(): void {
    this.#ended = this.data.complete ? -1 : this.at;
  }
  /** Selects a chunk by its number in the document; one that has not arrived when it has. */
  toNumber(number: number): void {
    const { chunks, complete } = this.data;
    const at = chunks.findIndex(({ chunk_index }) => chunk_index >= number);
    this.select(at < 0 && complete ? chunks.length - 1 : at < 0 ? number : at);
  }
  #reachEnd(): void {
    // What was selected before it had arrived is written now.
    if (this.at >= 0 && !this.#written && this.chunk) this.select(this.at);
    if (!this.data.complete) return;
    if (this.#ended >= 0 && this.#ended === this.at)
      this.select(this.around.shown()?.at(-1) ?? this.data.chunks.length - 1);
    this.#ended = -1;
  }

  /** Selects the next chunk that passes the filter, or the one before. */
  step(by: 1 | -1): void {
    const shown = this.around.shown();
    const last = (shown?.length ?? this.data.chunks.length) - 1;
    if (last < 0) return;
    const within = (row: number) => Math.max(0, Math.min(last, row));
    if (!shown) return this.select(within(this.at < 0 && by < 0 ? last : this.at + by));
    let row = shown.indexOf(this.at) + by;
    if (!shown.includes(this.at)) {
      row = by > 0 ? shown.findIndex((at) => at > this.at) : shown.findLastIndex((at) => this.at < 0 || at < this.at);
      if (row < 0) row = by > 0 ? last : 0;
    }
    this.select(shown[within(row)]!);
  }

  /** Selects the first chunk that passes the filter, unless the selected one does. */
  toFirst(): void {
    const shown = this.around.shown();
    if (shown && shown.length > 0) this.select(shown.includes(this.at) ? this.at : shown[0]!);
  }

  /** Marks the selected chunk, or takes its mark away; with `range` all from the last that was marked. */
  mark(range: boolean): void {
    if (this.list) return this.list.toggleMark(range);
    const next = new Set(this.marked);
    if (this.chunk && !next.delete(this.chunk.chunk_id)) next.add(this.chunk.chunk_id);
    this.marked = next;
  }

  /** Selects a chunk that was made of others; marks of chunks that are gone go. */
  made(chunk_id: string): void {
    const { positions } = this.data;
    this.marked = new Set([...this.marked].filter((id) => positions.has(id)));
    const at = positions.get(chunk_id);
    if (at !== undefined) this.select(at);
  }
}
