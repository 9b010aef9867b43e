// Leads to the place of a list that `at` in the address names.

import { untrack } from "svelte";
import { param, setParams } from "../../app/router.svelte.ts";

/**
 * Calls `lead` once the list is there, and when the address names another place. What is returned is for what is typed, and
 * writes it to the address.
 */
export function leading(isReady: () => boolean, lead: (text: string, isTyped: boolean) => Promise<string>) {
  let led = "";
  $effect(() => {
    const text = param("at");
    if (!isReady() || text === led) return;
    led = text;
    if (text) untrack(() => void lead(text, false));
  });
  return (text: string): Promise<string> => {
    led = text;
    setParams({ at: text });
    return lead(text, true);
  };
}
