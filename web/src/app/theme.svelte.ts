// Light, dark, or as the system has it.

import { recall, remember } from "../ui/storage.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "chunkwright.theme";
const read = (): Theme => THEMES.find((theme) => theme === recall(STORED)) ?? "system";

let current = $state<Theme>(read());

export const theme = (): Theme => current;

export function applyTheme(wanted: Theme = current): void {
  current = wanted;
  if (wanted === "system") {
    delete document.documentElement.dataset["theme"];
    remember(STORED, null);
  } else {
    document.documentElement.dataset["theme"] = wanted;
    remember(STORED, wanted);
  }
}
