// The key of the API: kept for this tab and server only, asked for when the server wants one.

import { base } from "../base.ts";
import { forget } from "./answers.ts";

const STORED = `chunkwright.key${base}`;

export type Reason = "unauthorized" | "insufficient_scope";

let current = $state(sessionStorage.getItem(STORED) ?? "");
let wanted = $state.raw<{ reason: Reason; refused: boolean } | null>(null);
let answer: ((given: boolean) => void) | null = null;
let waiting: Promise<boolean> | null = null;
/** Set when the dialog was closed without a key: nobody is asked again by what runs in the background. */
let declined = false;

export const key = (): string => current;

/** What the dialog asks for, while it asks. */
export const keyWanted = () => wanted;

/** Asks for a key unless that was declined; true when there is another than `used`. All who ask at once share one dialog. */
export function askForKey(used: string, reason: Reason, again = false): Promise<boolean> {
  if (again) declined = false;
  if (declined) return Promise.resolve(false);
  waiting ??= new Promise<boolean>((resolve) => {
    answer = resolve;
    wanted = { reason, refused: used !== "" };
  }).finally(() => (waiting = null));
  return waiting;
}

/** Ends the dialog, with a key or without. */
export function giveKey(given: string | null): void {
  if (given) {
    current = given;
    sessionStorage.setItem(STORED, given);
    forget();
  }
  declined = !given;
  wanted = null;
  answer?.(Boolean(given));
}

export function forgetKey(): void {
  current = "";
  sessionStorage.removeItem(STORED);
  forget();
}
