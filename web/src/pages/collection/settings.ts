// What the settings of a collection say that the overview needs.

type Settings = Record<string, unknown> | undefined;

const number = (value: unknown): number | null => (typeof value === "number" && value > 0 ? value : null);

/** Most tokens of a chunk; none where chunks are measured in characters or words. */
export const limitOf = (settings: Settings): number | null =>
  settings?.["unit"] === "tokens" ? number(settings["max_size"]) : null;

/** The limit and its unit, for bars of single chunks. */
export const measureOf = (settings: Settings): { limit: number; unit: "tokens" | "chars" } | null => {
  const [unit, limit] = [settings?.["unit"], number(settings?.["max_size"])];
  return limit && (unit === "tokens" || unit === "chars") ? { limit, unit } : null;
};

export const leastOf = (settings: Settings): { size: number; unit: "tokens" | "chars" } | null => {
  const [unit, size] = [settings?.["unit"], number(settings?.["min_size"])];
  return size && (unit === "tokens" || unit === "chars") ? { size, unit } : null;
};

/** The band that sizes should be in: that of the settings, or between their least and greatest. */
export function bandOf(settings: Settings): string {
  const band = settings?.["band"];
  if (Array.isArray(band) && number(band[1])) return `${band[0]}-${band[1]}`;
  const [least, most] = [number(settings?.["min_size"]), limitOf(settings)];
  return least && most ? `${least}-${most}` : "";
}

/** A value as text, as it would stand in a file of settings. */
export const shown = (value: unknown): string =>
  Array.isArray(value)
    ? value.length > 0
      ? value.map(String).join(", ")
      : "–"
    : value === null || value === undefined || value === ""
      ? "–"
      : typeof value === "string"
        ? value
        : JSON.stringify(value);

/** Keys whose values differ. */
export const differences = (before: Settings, after: Settings): [string, unknown, unknown][] =>
  before && after
    ? Array.from(new Set([...Object.keys(before), ...Object.keys(after)]))
        .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
        .map((key) => [key, before[key], after[key]])
    : [];
