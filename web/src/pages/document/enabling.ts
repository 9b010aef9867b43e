import { t } from "../../i18n/index.svelte.ts";
import { complain, toast } from "../../ui/toasts.svelte.ts";
import type { DocumentData } from "./data.svelte.ts";

/** Enables or disables chunks, says which in the words of `what`, and offers to undo it. */
export async function enable(data: DocumentData, ids: string[], enabled: boolean, what: string): Promise<void> {
  const words = t().document.marked;
  const undo = { text: words.undo, run: () => void data.amend(ids, { enabled: !enabled }).catch(complain) };
  try {
    if (ids.length > 0) await data.amend(ids, { enabled });
    toast((enabled ? words.enabled : words.disabled)(what), "good", ids.length > 0 ? undo : undefined);
  } catch (failure) {
    complain(failure);
  }
}
