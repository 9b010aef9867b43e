// What the browser remembers, for each server of a host. A page in a sandbox has no storage and forgets.

import { base } from "../base.ts";

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key + base);
  } catch {
    return null;
  }
}

/** Remembers a value; null forgets it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key + base);
    else localStorage.setItem(key + base, value);
  } catch {
    // It is forgotten with the page.
  }
}
