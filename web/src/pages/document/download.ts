import { api, ok } from "../../api/client.ts";
import { complain } from "../../ui/toasts.svelte.ts";

/** Saves a document as it was indexed, byte for byte. */
export async function download(collection: string, doc_id: string): Promise<void> {
  try {
    const params = { path: { collection, doc_id }, query: { form: "raw" as const } };
    const blob = await ok(
      api.GET("/api/v1/collections/{collection}/documents/{doc_id}/source", { params, parseAs: "blob" }),
    );
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = doc_id.slice(doc_id.lastIndexOf("/") + 1);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (failure) {
    complain(failure);
  }
}
