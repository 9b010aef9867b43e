import { api, ok } from "../../api/client.ts";
import { saveAs } from "../../ui/saving.ts";
import { complain } from "../../ui/toasts.svelte.ts";

/** Saves a collection as `chunkwright import` takes it: a record a line. */
export async function exportAs(collection: string): Promise<void> {
  try {
    const params = { path: { collection } };
    const answer = api.GET("/api/v1/collections/{collection}/export", { params, parseAs: "blob", cache: "no-store" });
    saveAs(`${collection}.jsonl`, (await ok(answer)) as Blob);
  } catch (failure) {
    complain(failure);
  }
}
