// How many tokens are many: the levels of records, and the colours they have everywhere.

import type { Level } from "./types.ts";

export const LEVELS: Level[] = ["normal", "warning", "large", "oversized"];

export const levelOf = (tokens: number): Level =>
  tokens < 512 ? "normal" : tokens < 1024 ? "warning" : tokens <= 2048 ? "large" : "oversized";

/** The colour of bars. */
export const levelTone = (level: Level): string => `var(--level-${level})`;

/** The tone of a badge. */
export const levelBadge = (level: Level) =>
  (({ normal: "good", warning: "warn", large: "large", oversized: "bad" }) as const)[level];

/** Which of the chunk colours one has: neighbours differ. */
export const hueOf = (index: number): number => ((index % 6) + 6) % 6;
