// Jobs that an operator has to look at.

import type { Schemas } from "../../api/client.ts";

type Job = Pick<Schemas["Job"], "id" | "state">;

/** Failed jobs that no later job of their collection made good, the latest first: one a collection. */
export function failedNow<J extends Job>(jobs: J[], collectionOf: (job: J) => string | null): J[] {
  const seen = new Set<string | null>();
  return jobs
    .toSorted((a, b) => b.id - a.id)
    .filter((job) => {
      const name = collectionOf(job);
      if (seen.has(name) || (job.state !== "failed" && job.state !== "succeeded")) return false;
      seen.add(name);
      return job.state === "failed";
    });
}
