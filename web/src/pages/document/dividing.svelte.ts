// Splitting a chunk by hand, and merging it with the one beside it: where, whether it can be done, and what came of it.

import { t } from "../../i18n/index.svelte.ts";
import { complain, toast } from "../../ui/toasts.svelte.ts";
import type { DocumentData } from "./data.svelte.ts";
import { bytesOf, pointedAt } from "./place.ts";

export type Side = "next" | "previous";

export class Dividing {
  /** The place where the chunk is to be split, in units of the source; null while none is chosen. */
  place = $state<number | null>(null);
  /** The list of the source's lines. */
  lines = $state.raw<HTMLDivElement>();
  busy = $state(false);
  /** What the server said, and of which chunk. */
  failure = $state.raw<{ chunk_id: string; text: string }>();

  constructor(
    readonly data: DocumentData,
    /** Selects the chunk that was made. */
    readonly onmade: (chunk_id: string) => void,
  ) {}

  /** Why a chunk cannot be split, or merged with the one beside it; empty if it can. */
  whyNot(at: number, side?: Side): string {
    const words = t().document.divide;
    // Boundaries are of a collection, not of one version of it.
    if (this.data.collection.includes("@")) return words.oldVersion;
    if (!this.data.complete) return words.loading;
    if (side === "previous" && at === 0) return words.isFirst;
    return side === "next" && at === this.data.chunks.length - 1 ? words.isLast : "";
  }
  failureOf(chunk_id: string | undefined): string {
    return this.failure && this.failure.chunk_id === chunk_id ? this.failure.text : "";
  }

  /** Lets one choose where a chunk is split: at first where text is selected, or the line that is pointed at. */
  begin(at: number): boolean {
    const { layout } = this.data;
    if (!layout?.chunks[at] || this.whyNot(at)) return false;
    this.failure = undefined;
    this.place = pointedAt(layout, this.lines, this.lines?.querySelector("[data-row]:hover")) ?? layout.start[at]!;
    return true;
  }
  cancel = (): void => {
    this.place = null;
    this.failure = undefined;
    this.lines?.focus();
  };

  async split(at: number): Promise<void> {
    const { data, place } = this;
    const chunk = data.chunks[at];
    if (!chunk || !data.layout || place === null) return;
    const byte = chunk.start_byte + bytesOf(data.source.slice(data.layout.start[at], place));
    await this.#do(
      chunk.chunk_id,
      { byte },
      () => t().document.divide.wasSplit(t().chunks.chunk(chunk.chunk_index)),
      ([, after]) => [after, { with: "previous" }],
    );
  }
  async merge(at: number, side: Side): Promise<void> {
    const { chunks } = this.data;
    const chunk = chunks[at];
    const second = chunks[side === "next" ? at + 1 : at];
    if (!chunk || !second || this.whyNot(at, side)) return;
    const other = chunks[side === "next" ? at + 1 : at - 1]!;
    await this.#do(
      chunk.chunk_id,
      { with: side },
      () =>
        t().document.divide.wereMerged(
          t().chunks.chunk(Math.min(chunk.chunk_index, other.chunk_index)),
          t().chunks.chunk(Math.max(chunk.chunk_index, other.chunk_index)),
        ),
      ([both]) => [both, { byte: second.start_byte }],
    );
  }

  async #do(
    chunk_id: string,
    how: Parameters<DocumentData["divide"]>[1],
    said: () => string,
    undo: (made: string[]) => [string | undefined, Parameters<DocumentData["divide"]>[1]],
  ): Promise<void> {
    const { data } = this;
    if (this.busy) return;
    this.busy = true;
    this.failure = undefined;
    try {
      const made = await data.divide(chunk_id, how);
      this.place = null;
      this.onmade(made.at(-1) ?? "");
      const [back, opposite] = undo(made);
      const run = () => void data.divide(back!, opposite).then((made) => this.onmade(made[0] ?? ""), complain);
      toast(said(), "good", back ? { text: t().document.marked.undo, run } : undefined);
    } catch (failure) {
      this.failure = { chunk_id, text: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      this.busy = false;
    }
  }
}
