// The least and the greatest score of each stage, which the parts of a fused score follow from.

import { api, ok } from "../../api/client.ts";
import { rankParts, sumParts, type Parts, type Range } from "./parts.ts";
import { hitsOf, STAGES, type Hit, type SearchAnswer, type SearchRequest, type StageName } from "./setup.ts";

/** Asks the server. */
export const search = (body: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> =>
  ok(api.POST("/api/v1/search", { body, signal })) as Promise<SearchAnswer>;

/** The least and the greatest score that a stage gives its candidates. */
async function rangeOf(request: SearchRequest, collection: string, stage: StageName, signal: AbortSignal): Promise<Range | null> {
  const ask = (changes: Partial<SearchRequest>) => {
    const body: SearchRequest = {
      ...request, collections: [collection], all_collections: false, mode: stage, offset: 0, min_relevance: 0, duplicates: "keep", collapse_translations: false,
      per_document: null, expand: null, max_tokens: null, text: false, rerank: 0, ...changes,
    };
    return search(body, signal);
  };
  // An answer without room has no text, and says how many there are.
  const listed = await ask({ top_k: request.candidates, max_tokens: 1 });
  const count = hitsOf(listed).length + (listed.budget?.left_out.length ?? 0);
  if (count === 0) return null;
  const at = async (offset: number) => hitsOf(await ask({ top_k: 1, offset })).at(0)?.[stage]?.score;
  const [greatest, least] = await Promise.all([at(0), at(count - 1)]);
  return greatest === undefined || least === undefined ? null : { greatest, least };
}

/** Hits with their fused scores, where the server has a reranker: it reads one, at least. */
async function unranked(request: SearchRequest, collection: string, signal: AbortSignal): Promise<Hit[]> {
  const body: SearchRequest = { ...request, collections: [collection], all_collections: false, rerank: 0, top_k: 10, offset: 0, min_relevance: 0, expand: null, max_tokens: null, text: false };
  const hits = hitsOf(await search(body, signal));
  // The scores of those it does not read are at most that of the one it reads.
  const most = hits.find(({ rerank }) => rerank)?.score ?? Infinity;
  return hits.filter(({ rerank, score }) => !rerank && score < most);
}

/** Parts by collection, of those whose hits came from several stages. */
export async function partsOf(request: SearchRequest, answer: SearchAnswer, signal: AbortSignal): Promise<Map<string, Parts>> {
  const out = new Map<string, Parts>();
  const hits = hitsOf(answer);
  if (request.all_versions || request.candidates > 1000 || (request.offset ?? 0) + request.top_k > request.candidates) return out;
  await Promise.all(
    answer.collections.map(async ({ collection, generation, mode, rerank_used }) => {
      const key = `${collection}@${generation}`;
      const own = hits.filter((hit) => hit.collection === collection && hit.generation === generation);
      if (mode !== "hybrid" || own.length === 0) return;
      const running = STAGES.filter((stage) => stage !== "sparse" || own.some((hit) => hit.sparse));
      const { fusion } = request;
      let parts: Parts | null;
      // Scores that tell how the stages are weighed.
      const telling = rerank_used ? await unranked(request, key, signal) : own;
      if (fusion.method === "rrf") parts = rankParts(telling, fusion.k, running);
      else {
        const found = await Promise.all(running.map(async (stage) => [stage, await rangeOf(request, key, stage, signal)] as const));
        const ranges = Object.fromEntries(found.flatMap(([stage, range]) => (range ? [[stage, range]] : [])));
        parts = sumParts(telling, ranges, fusion.dense_weight, fusion.sparse_weight ?? 1 / 3);
      }
      if (parts) out.set(key, parts);
    }),
  );
  return out;
}
