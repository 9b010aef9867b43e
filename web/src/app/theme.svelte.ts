// Light, dark, or as the system has it.

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "chunkwright.theme";
const read = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? "system";

let current = $state<Theme>(read());

export const theme = (): Theme => current;

export function applyTheme(wanted: Theme = current): void {
  current = wanted;
  if (wanted === "system") {
    delete document.documentElement.dataset["theme"];
    localStorage.removeItem(STORED);
  } else {
    document.documentElement.dataset["theme"] = wanted;
    localStorage.setItem(STORED, wanted);
  }
}
