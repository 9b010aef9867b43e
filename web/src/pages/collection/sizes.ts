// The distribution of tokens over everything that passes a filter.

import { api, ok } from "../../api/client.ts";
import { all } from "./filter.ts";
import type { Range, Statistics } from "./ranges.ts";

export const statisticsOf = (collection: string, filter: string, signal: AbortSignal, band?: string): Promise<Statistics> =>
  ok(api.GET("/api/v1/collections/{collection}/statistics", { params: { path: { collection }, query: { ...(filter && { filter }), ...(band && { band }) } }, signal }));

/** Counts the chunks of each range, four at a time. Ranges that must be empty are not asked for. */
export async function countRanges(collection: string, scope: string, statistics: Statistics, ranges: Range[], signal: AbortSignal): Promise<Range[]> {
  const isEmpty = ({ from, to }: Range) =>
    (to !== null && to < statistics.tokens.min) || from > statistics.tokens.max ||
    statistics.token_histogram.every((range) => range.chunks === 0 || (to !== null && range.from > to) || (range.to ?? Infinity) < from);
  const out = ranges.map((range) => ({ ...range }));
  const todo = out.filter((range) => !isEmpty(range));
  const work = async () => {
    for (let range = todo.pop(); range; range = todo.pop()) {
      const sizes = all(`token_count>=${range.from}`, range.to !== null && `token_count<=${range.to}`);
      range.count = (await statisticsOf(collection, all(scope, sizes), signal)).chunks;
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return out;
}

