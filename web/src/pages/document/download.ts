import { api, ok } from "../../api/client.ts";
import { saveAs } from "../../ui/saving.ts";
import { complain } from "../../ui/toasts.svelte.ts";

/** Saves a document as it was indexed, byte for byte. */
export async function download(collection: string, doc_id: string): Promise<void> {
  try {
    const params = { path: { collection, doc_id }, query: { form: "raw" as const } };
    const blob = await ok(
      api.GET("/api/v1/collections/{collection}/documents/{doc_id}/source", { params, parseAs: "blob" }),
    );
    saveAs(doc_id.slice(doc_id.lastIndexOf("/") + 1), blob);
  } catch (failure) {
    complain(failure);
  }
}
