// The filter as it stands in the address, and the chunks that pass it.

import type { Level } from "../../chunks/types.ts";
import { LEVELS } from "../../chunks/levels.ts";
import { param, setParams } from "../../app/router.svelte.ts";
import type { DocumentData } from "./data.svelte.ts";
import { fold, needsReview, passing, SHOWS, type Filter, type Show } from "./filter.ts";

export class Filters {
  /** What is typed; the address follows when typing stops. */
  text = $state(param("q"));
  /** Positions of the chunks that pass, in order; null while all do. */
  readonly shown = $derived.by(() => {
    const { chunks, layout, overlays, boundaries, sizeOf } = this.data;
    if (!this.isOn || !layout) return null;
    return passing(chunks, layout, () => this.#folded, overlays, this.all, sizeOf, boundaries);
  });
  readonly inShown = $derived.by(() => this.shown && new Set(this.shown));
  /** How many changes by hand need a review. */
  readonly reviews = $derived.by(() => {
    const { orphans, overlays, boundaries } = this.data;
    return orphans.length + [...overlays.values(), ...[...boundaries.values()].flat()].filter(needsReview).length;
  });
  readonly #folded = $derived.by(() => fold(this.data.source));
  #timer = 0;

  constructor(readonly data: DocumentData) {}

  get show(): Show {
    return SHOWS.find((show) => show === param("show")) ?? "all";
  }
  get cut(): string {
    return param("cut");
  }
  get levels(): Set<Level> {
    const named = param("level").split(",");
    return new Set(LEVELS.filter((level) => named.includes(level)));
  }
  /** `100-200` or `100-`. */
  get size(): [number, number | null] | null {
    const found = /^(\d+)-(\d*)$/u.exec(param("size"));
    return found ? [Number(found[1]), found[2] ? Number(found[2]) : null] : null;
  }
  get all(): Filter {
    return { text: this.text, show: this.show, cut: this.cut, levels: this.levels, size: this.size };
  }
  get isOn(): boolean {
    return Boolean(this.text.trim() || this.show !== "all" || this.cut || this.levels.size || this.size);
  }

  type(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => setParams({ q: text }), 250);
  }
  set(changes: { show?: Show; cut?: string; levels?: Set<Level>; size?: [number, number | null] | null }): void {
    const { show, cut, levels, size } = changes;
    setParams({
      ...(show !== undefined && { show: show === "all" ? null : show }),
      ...(cut !== undefined && { cut }),
      ...(levels !== undefined && { level: [...levels].join(",") }),
      ...(size !== undefined && { size: size && `${size[0]}-${size[1] ?? ""}` }),
    });
  }
  clear(): void {
    clearTimeout(this.#timer);
    this.text = "";
    setParams({ q: null, show: null, cut: null, level: null, size: null });
  }
  stop(): void {
    clearTimeout(this.#timer);
  }
}
