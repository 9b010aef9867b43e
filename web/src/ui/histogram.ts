// What a histogram is drawn of.

export interface Bin {
  /** Least size in it, and greatest; none for the last of open end. */
  from: number;
  to: number | null;
  count: number;
  /** Its colour, and what the colour says. */
  tone?: string;
  name?: string;
  /** Pattern: bars over the limit are hatched. */
  hatched?: boolean;
  /** What it was before, shown as an outline. */
  before?: number;
}
