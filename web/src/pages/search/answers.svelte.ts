// The answer to a search as state of the page, with the questions that were saved for it.

import { api, ok } from "../../api/client.ts";
import { resource } from "../../api/resource.svelte.ts";
import { href } from "../../app/router.svelte.ts";
import { mostOf, sumOf, valuesOf } from "./parts.ts";
import { questionsOf, savedFor } from "./questions.ts";
import {
  STAGES,
  hitsOf,
  passagesOf,
  type Hit,
  type SearchAnswer,
  type SearchRequest,
  type StageName,
} from "./setup.ts";

export class Answers {
  #request: () => SearchRequest | null;
  answer: ReturnType<typeof resource<{ answer: SearchAnswer; request: SearchRequest; took: number } | null>>;
  #saved: ReturnType<typeof resource<Awaited<ReturnType<typeof questionsOf>>>>;

  hits = $derived.by(() => hitsOf(this.data?.answer));
  passages = $derived.by(() => passagesOf(this.data?.answer));
  several = $derived.by(() => (this.data?.answer.searched ?? 0) > 1 || this.data?.request.all_versions === true);

  constructor(request: () => SearchRequest | null) {
    this.#request = request;
    // Another request only if it says something else.
    const text = $derived(JSON.stringify(request()));
    this.answer = resource(
      async (signal) => {
        const body = JSON.parse(text) as SearchRequest | null;
        if (!body) return null;
        const begun = performance.now();
        const answer = (await ok(api.POST("/api/v1/search", { body, signal }))) as SearchAnswer;
        return { answer, request: body, took: performance.now() - begun };
      },
      () => request()?.query,
    );
    const named = $derived.by(() =>
      this.data?.answer.searched === 1 ? this.data.answer.collections[0]!.collection : "",
    );
    this.#saved = resource(
      async (signal) => (named ? questionsOf(named, signal) : []),
      () => named,
    );
  }

  get data() {
    return this.answer.data;
  }
  get loading() {
    return this.answer.loading && this.#request() !== null;
  }
  get failure() {
    return this.#request() === null ? undefined : this.answer.failure;
  }
  reload = () => this.answer.reload();
  questionsChanged = () => this.#saved.reload();

  /** The test question that the query is, if it was saved. */
  get question() {
    return this.data ? savedFor(this.#saved.data, this.data.request.query) : undefined;
  }

  get most(): number {
    return this.data ? mostOf(this.data.request) : 1;
  }

  fusedOf(hit: Hit): { rank: number | null; score: number } | null {
    const values = valuesOf(hit);
    if (!values) return null;
    const added = [hit.standing, hit.proximity, hit.names].map((stage) => stage?.contribution ?? 0);
    const score = added.reduce((sum, part) => sum + part, sumOf(values));
    // Ranks of one list alone are those of its fusion.
    return { rank: this.several || hit.rerank ? null : hit.rank, score };
  }

  /** Stages that ran for the collection of a hit. */
  ranFor(hit: Hit): StageName[] {
    const mode = this.data?.answer.collections.find(
      ({ collection, generation }) => collection === hit.collection && generation === hit.generation,
    )?.mode;
    if (mode && mode !== "hybrid") return [mode];
    return STAGES.filter((stage) => (stage !== "sparse" && stage !== "late") || this.hits.some((hit) => hit[stage]));
  }

  /** The collection of a hit, with its version where that is not the one that is searched without saying so. */
  nameOf({ collection, generation }: { collection: string; generation?: number }): string {
    if (generation === undefined || !this.data) return collection;
    const { answer, request } = this.data;
    const name = `${collection}@${generation}`;
    const isOld =
      request.all_versions
      && answer.collections.some(
        (searched) => searched.collection === collection && searched.generation !== generation,
      );
    return isOld || request.collections.includes(name) ? name : collection;
  }

  /** Where a hit stands in its document. */
  addressOf(hit: Hit): string {
    return `${href`/c/${this.nameOf(hit)}/d/${hit.doc_id}`}?chunk=${hit.chunk_id}`;
  }

  /** What a hit of a collection needs. */
  leastFor(hit: Hit): number | null {
    return (
      this.data?.answer.collections.find(
        ({ collection, generation }) => collection === hit.collection && generation === hit.generation,
      )?.min_relevance ?? null
    );
  }
}
