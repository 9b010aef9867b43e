// The documents beside one, and those about the same.

import { api, ok, type Schemas } from "../../api/client.ts";
import type { DocumentData } from "./data.svelte.ts";

export class Related {
  answer = $state.raw<Schemas["RelatedAnswer"]>();
  failure = $state.raw<unknown>();

  constructor(readonly data: DocumentData) {}

  load = async (): Promise<void> => {
    const { collection, doc_id, signal } = this.data;
    this.failure = undefined;
    try {
      const params = { path: { collection, doc_id } };
      this.answer = await ok(
        api.GET("/api/v1/collections/{collection}/documents/{doc_id}/related", { params, signal }),
      );
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    }
  };

  /** The document after this one in its folder, or before it. */
  neighbour(by: 1 | -1): string | undefined {
    const nearest = this.answer?.siblings.nearest ?? [];
    const { doc_id } = this.data;
    return by > 0 ? nearest.find((id) => id > doc_id) : nearest.findLast((id) => id < doc_id);
  }
}
