// Short notes that pass: something was done, or failed where nothing else can say so.

import { Failure } from "../api/client.ts";
import { t } from "../i18n/index.svelte.ts";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "good" | "bad";
  action?: { text: string; run: () => void };
}

let list = $state.raw<Toast[]>([]);
let ids = 0;

export const toasts = (): Toast[] => list;

export const dismiss = (id: number): void => void (list = list.filter((toast) => toast.id !== id));

export function toast(text: string, tone: Toast["tone"] = "plain", action?: Toast["action"]): void {
  const id = ++ids;
  list = [...list.slice(-3), { id, text, tone, ...(action && { action }) }];
  // A failure stays until it is read.
  if (tone !== "bad") setTimeout(() => dismiss(id), action ? 10_000 : 5_000);
}

/** Says why something failed: by its code in the language of the page, then in the server's words. */
export function complain(failure: unknown): void {
  const kind = failure instanceof Failure ? t().app.problem.codes[failure.problem.code ?? ""] : undefined;
  const message = failure instanceof Error ? failure.message : String(failure);
  toast(kind ? `${kind} ${message}` : message, "bad");
}
