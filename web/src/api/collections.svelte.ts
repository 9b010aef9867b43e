// Collections as the server finds them by a part of their name: a page never holds the names of all.

import { api, ok } from "./client.ts";
import { resource } from "./resource.svelte.ts";

/** How many a picker lists; who looks for another types a part of its name. */
export const LISTED = 50;

/** The first collections by name whose name has a part, and how many have. */
export const findCollections = (name: string, signal: AbortSignal, limit = LISTED) =>
  ok(api.GET("/api/v1/collections", { params: { query: { limit, ...(name && { name }) } }, signal }));

/** The same as state of a component, anew whenever `name` changes. */
export const foundCollections = (name: () => string = () => "") =>
  resource((signal) => findCollections(name().trim(), signal));

/** Whether there is a collection of this name; none while that is not known. */
export function existence(name: () => string) {
  const found = resource(
    async (signal) => {
      const wanted = name().trim();
      if (!wanted) return { wanted, exists: false };
      const page = await findCollections(wanted, signal, 1000);
      return { wanted, exists: page.collections.some(({ collection }) => collection === wanted) };
    },
    () => name().trim(),
  );
  return {
    get exists(): boolean | undefined {
      return found.data?.exists;
    },
    reload: () => found.reload(),
  };
}
