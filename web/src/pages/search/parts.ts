// What each stage adds to the fused score of a hit. The answer has the scores of stages in their own units; how a weighted sum
// stretches them follows from the least and the greatest score among the candidates of a stage (ranges.ts asks for them).

import { STAGES, type Hit, type StageName } from "./setup.ts";

export type Values = Partial<Record<StageName, number>>;

export interface Parts {
  /** What a stage adds to the fused score; none for a stage that did not find the hit. */
  of: (hit: Hit) => Values;
  /** The greatest score that the fusion can give. */
  most: number;
  /** What a stage weighs. */
  weights: Values;
}

export interface Range {
  least: number;
  greatest: number;
}

const sum = (values: Values): number => STAGES.reduce((total, stage) => total + (values[stage] ?? 0), 0);
const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-5;
/** Whether a hit's score is the fused one. */
const isFused = (hit: Hit): boolean => !hit.rerank && hit.kept !== "pinned";

/** Parts of reciprocal rank fusion. */
export function rankParts(hits: Hit[], k: number, running: readonly StageName[]): Parts | null {
  const of = (stages: readonly StageName[]) => (hit: Hit): Values =>
    Object.fromEntries(stages.flatMap((stage) => (hit[stage] ? [[stage, 1 / (k + hit[stage].rank)]] : [])));
  // A model that does not read the query has no say.
  for (const stages of [running, ["lexical"] as const]) {
    const parts = of(stages);
    if (hits.filter(isFused).every((hit) => close(sum(parts(hit)), hit.score))) {
      return { of: parts, most: stages.length / (k + 1), weights: Object.fromEntries(stages.map((stage) => [stage, 1])) };
    }
  }
  return null;
}

/** Parts of a weighted sum. Null if no weights explain the scores of all hits. */
export function sumParts(hits: Hit[], ranges: Partial<Record<StageName, Range>>, dense: number, sparse: number): Parts | null {
  const stretched = (hit: Hit, stage: StageName): number | undefined => {
    const [found, range] = [hit[stage], ranges[stage]];
    if (!found || !range) return undefined;
    return range.greatest > range.least ? (found.score - range.least) / (range.greatest - range.least) : 1;
  };
  const weigh = (dense: number): Values => {
    const rest = 1 - dense;
    return ranges.sparse ? { dense, sparse: rest * sparse, lexical: rest * (1 - sparse) } : { dense, lexical: rest };
  };
  const parts = (weights: Values) => (hit: Hit): Values =>
    Object.fromEntries(
      STAGES.flatMap((stage) => {
        const value = stretched(hit, stage);
        return value === undefined || weights[stage] === undefined ? [] : [[stage, value * weights[stage]]];
      }),
    );
  const fused = hits.filter(isFused);
  const tried: Values[] = [weigh(dense), { lexical: 1 - dense }];
  // A model that reads a part of the query weighs that much less.
  const telling = fused.map((hit) => {
    const none = sum(parts({ ...weigh(0), dense: 0 })(hit));
    return { none, whole: stretched(hit, "dense") ?? 0, score: hit.score };
  });
  const best = telling.toSorted((a, b) => Math.abs(b.whole - b.none) - Math.abs(a.whole - a.none))[0];
  if (best && Math.abs(best.whole - best.none) > 1e-3) {
    const share = (best.score - best.none) / (best.whole - best.none);
    if (share > 0 && share < dense) tried.push(weigh(share));
  }
  const weights = tried.find((weights) => fused.every((hit) => close(sum(parts(weights)(hit)), hit.score)));
  return weights ? { of: parts(weights), most: 1, weights } : null;
}

/** The fused score of a hit: its own, or the sum of its parts where a reranker changed it. */
export function fusedOf(hit: Hit, parts: Parts | undefined, reranked: boolean): number | null {
  const stages = STAGES.filter((stage) => hit[stage]).length;
  if (parts) return sum(parts.of(hit));
  return !reranked && isFused(hit) && stages > 1 ? hit.score : null;
}
