// A chunk as the page knows it: the record, and what a store says of it.

import type { components } from "../api/schema.d.ts";

type Schemas = components["schemas"];

export type Level = Schemas["TokenLevel"];
export type Cut = Schemas["Cut"];

export type Chunk = Schemas["Record"] & {
  /** Absent outside a store. */
  enabled?: boolean;
  embedded?: boolean;
  /** Changed by hand. */
  edited?: boolean;
};

export type OutlineRow = Schemas["OutlineRow"];

/** Chunks by their position: all of them, or those that are loaded of a long list. */
export interface Rows {
  readonly length: number;
  at(position: number): Chunk | undefined;
  /** Loads those up to another. */
  load?(first: number, last: number): Promise<void>;
}
