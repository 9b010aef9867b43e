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
