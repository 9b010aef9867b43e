// The modes that collections can be searched in, and what they lack for the others.

import type { Schemas } from "../../api/client.ts";
import type { Mode } from "./setup.ts";

export type Lacking = Partial<Record<Mode, "model" | "sparse">>;

/** What is lacking for the modes that none of the collections has. Without a model, `hybrid` is words alone, and works. */
export function lackingOf(collections: Pick<Schemas["ListedCollection"], "model">[]): Lacking {
  if (collections.length === 0) return {};
  const models = collections.flatMap(({ model }) => model ?? []);
  if (models.length === 0) return { dense: "model", sparse: "model" };
  return models.some(({ sparse }) => sparse) ? {} : { sparse: "sparse" };
}
