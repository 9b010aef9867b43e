// What is suspicious about the chunks of a collection, as far as the API can count it.

import { DATA, ofExtensions } from "./filter.ts";
import type { Statistics } from "./ranges.ts";
import { statisticsOf } from "./sizes.ts";

export type SmellName =
  "headings" | "small" | "oversize" | "torn" | "repeated" | "data" | "textless" | "pending" | "disabled";

export interface Smell {
  name: SmellName;
  count: number;
  /** Of how many. */
  of: number;
  /** Which chunks these are; none where the filter language cannot say it. */
  filter?: string;
  /** More than a few: it is worth looking at. */
  isMuch: boolean;
  /** The extension of the files that make most tokens. */
  extension?: string;
}

export interface Facts {
  documents: number;
  pending: number;
  /** Least size that chunks should have, and in what. */
  least: { size: number; unit: "tokens" | "chars" } | null;
}

/** Fewest tokens of which it is worth saying that most are data; as indexing has it. */
const LEAST_TOKENS = 2_000;

export async function smellsOf(
  collection: string,
  statistics: Statistics,
  { documents, pending, least }: Facts,
  signal: AbortSignal,
): Promise<Smell[]> {
  const count = (filter: string) => statisticsOf(collection, filter, signal);
  const filters = {
    headings: "content_type=heading",
    small: least && least.size > 0 ? `${least.unit === "tokens" ? "token_count" : "char_count"}<${least.size}` : "",
    oversize: "oversize=true",
    torn: "cut=split:word or cut=split:grapheme",
    data: ofExtensions(DATA),
  };
  const [headings, small, oversize, torn, data] = await Promise.all([
    count(filters.headings),
    filters.small ? count(filters.small) : null,
    count(filters.oversize),
    count(filters.torn),
    count(filters.data),
  ]);
  const of = statistics.chunks;
  const smell = (
    name: "headings" | "small" | "oversize" | "torn",
    found: Statistics | null,
    share: number,
  ): Smell | null =>
    found && { name, count: found.chunks, of, filter: filters[name], isMuch: found.chunks > of * share };
  const { repeated } = statistics;
  // Those of the most repeated texts: the filter language cannot ask for all.
  const copies = repeated.most
    .flatMap(({ some }) => some)
    .map(({ chunk_id }) => `chunk_id=${chunk_id}`)
    .join(" or ");
  const textless = Math.max(0, documents - statistics.documents);
  return [
    smell("headings", headings, 0),
    smell("small", small, 0.02),
    smell("oversize", oversize, 0),
    smell("torn", torn, 0.02),
    {
      name: "repeated" as const,
      count: repeated.chunks,
      of,
      ...(copies && { filter: copies }),
      isMuch: repeated.chunks > of * 0.02,
    },
    await dominant(collection, statistics, data, signal),
    { name: "textless" as const, count: textless, of: documents, isMuch: textless > documents * 0.1 },
    { name: "pending" as const, count: pending, of, isMuch: pending > 0 },
    { name: "disabled" as const, count: statistics.disabled, of, isMuch: false },
  ].filter((smell): smell is Smell => smell !== null);
}

/** The kind of data files that makes more than half of all tokens, where there are other files. */
async function dominant(
  collection: string,
  statistics: Statistics,
  data: Statistics,
  signal: AbortSignal,
): Promise<Smell> {
  const all = statistics.tokens.sum;
  const none: Smell = { name: "data", count: 0, of: all, isMuch: false };
  if (data.tokens.sum < LEAST_TOKENS || data.tokens.sum * 2 <= all) return none;
  for (const extension of DATA) {
    const found = await statisticsOf(collection, ofExtensions([extension]), signal);
    if (found.tokens.sum * 2 <= all) continue;
    return found.documents === statistics.documents
      ? none
      : { name: "data", count: found.tokens.sum, of: all, filter: ofExtensions([extension]), isMuch: true, extension };
  }
  return none;
}
