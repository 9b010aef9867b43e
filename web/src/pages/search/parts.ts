// What each stage adds to the fused score of a hit.

import { STAGES, type Hit, type SearchRequest, type StageName } from "./setup.ts";

export type Values = Partial<Record<StageName, number>>;

/** By stage; null where scores were not fused. A stage that the fusion leaves out is missing. */
export function valuesOf(hit: Pick<Hit, StageName>): Values | null {
  const values: Values = {};
  for (const stage of STAGES) {
    const contribution = hit[stage]?.contribution;
    if (contribution != null) values[stage] = contribution;
  }
  return Object.keys(values).length > 0 ? values : null;
}

/** The greatest possible fused score; `late` has no part in a fusion of ranks. */
export const mostOf = ({ fusion }: SearchRequest): number =>
  fusion.method === "rrf" ? (STAGES.length - 1) / (fusion.k + 1) : 1;

/** The fused score. */
export const sumOf = (values: Values): number => STAGES.reduce((sum, stage) => sum + (values[stage] ?? 0), 0);
