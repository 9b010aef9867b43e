// What collections lack for some modes, as the server lists them.

import { findCollections } from "../../api/collections.svelte.ts";
import { lackingOf, type Lacking } from "./modes.ts";

/** Most collections that are looked at: of more, some have every mode. */
const MOST = 8;

/** What the collections of these names lack, or all. */
export async function lacking(names: string[], signal: AbortSignal): Promise<Lacking> {
  if (names.length > MOST) return {};
  if (names.length === 0) {
    const { collections, total } = await findCollections("", signal);
    return total > collections.length ? {} : lackingOf(collections);
  }
  const wanted = names.map((name) => name.replace(/@\d+$/u, ""));
  const found = await Promise.all(wanted.map((name) => findCollections(name, signal)));
  return lackingOf(
    found.flatMap(({ collections }, at) => collections.filter(({ collection }) => collection === wanted[at])),
  );
}
