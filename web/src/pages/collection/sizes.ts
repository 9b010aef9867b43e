// The distribution of tokens over everything that passes a filter.

import { api, ok } from "../../api/client.ts";
import type { Range, Statistics } from "./ranges.ts";

export const statisticsOf = (
  collection: string,
  filter: string,
  signal: AbortSignal,
  { band, ranges }: { band?: string; ranges?: string } = {},
): Promise<Statistics> =>
  ok(
    api.GET("/api/v1/collections/{collection}/statistics", {
      params: {
        path: { collection },
        query: { ...(filter && { filter }), ...(band && { band }), ...(ranges && { ranges }) },
      },
      signal,
    }),
  );

/** Counts the chunks of each range. */
export async function countRanges(
  collection: string,
  scope: string,
  ranges: Range[],
  signal: AbortSignal,
): Promise<Range[]> {
  const { token_histogram } = await statisticsOf(collection, scope, signal, {
    ranges: ranges.map(({ from }) => from).join(","),
  });
  return ranges.map((range, at) => ({ ...range, count: token_histogram[at]?.chunks ?? 0 }));
}
