import { href } from "../../app/router.svelte.ts";
import { t } from "../../i18n/index.svelte.ts";
import { copy } from "../../ui/clipboard.ts";
import { toast } from "../../ui/toasts.svelte.ts";

/** Copies text and says what was copied. */
export async function copyAs(what: string, text: string): Promise<void> {
  const words = t().document.actions;
  if (await copy(text)) toast(words.copied(what), "good");
  else toast(words.copyFailed, "bad");
}

/** The address of a chunk alone, which holds wherever its document goes. */
export const linkOf = (collection: string, chunk_id: string): string =>
  location.origin + href`/c/${collection}/k/${chunk_id}`;
