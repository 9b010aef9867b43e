// What a store has of a document: its chunks, all of them.

import { api, ok } from "../../api/client.ts";
import type { Chunk } from "../../chunks/types.ts";

/** The chunks of a document in their order, without summaries. */
export async function chunksOf(collection: string, doc_id: string, signal: AbortSignal): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  let cursor: string | undefined;
  do {
    const query = { doc_id, limit: 1000, ...(cursor && { cursor }) };
    const page = await ok(
      api.GET("/api/v1/collections/{collection}/chunks", { params: { path: { collection }, query }, signal }),
    );
    chunks.push(...(page.chunks as Chunk[]).filter((chunk) => !("artifact" in chunk && chunk.artifact)));
    cursor = page.next ?? undefined;
  } while (cursor);
  return chunks.sort((a, b) => a.chunk_index - b.chunk_index);
}
