// What a job is called, and what came of it.

import type { Job } from "../../api/jobs.svelte.ts";
import type { Schemas } from "../../api/client.ts";

export type Kind = Schemas["Task"]["kind"] | "reindex" | "migrate";

/** What was asked for: a reindex and a migration are runs over no path. */
export function kindOf({ task, settings }: Job): Kind {
  if (task.kind !== "index" || task.request.paths.length > 0) return task.kind;
  return settings && "embedder" in settings ? "migrate" : "reindex";
}

export type Report = Partial<{
  indexed: number;
  unchanged: number;
  carried: number;
  empty: number;
  chunks: number;
  embedded: number;
  reused: number;
  added: number;
  removed: number;
  tokens_to_embed: number;
  pending: number;
  generation: number;
  switched: number;
  failed: { doc_id?: string; path?: string; message?: string; error?: string }[];
  skipped_reasons: Record<string, number>;
  notices: Schemas["Notice"][];
  timings: Schemas["Timings"];
  generations: Schemas["PrunedGeneration"][];
}>;

/** The answer of a job, as far as it is a report of a run or of pruning. */
export const reportOf = ({ answer }: Job): Report | null =>
  Array.isArray(answer)
    ? { generations: answer as Schemas["PrunedGeneration"][] }
    : answer && typeof answer === "object"
      ? answer
      : null;

/** Seconds that it took, or takes so far. */
export function secondsOf({ started_at, finished_at }: Job, now = Date.now()): number | null {
  if (!started_at) return null;
  return Math.max(0, ((finished_at ? Date.parse(finished_at) : now) - Date.parse(started_at)) / 1000);
}

interface OutcomeWords {
  documents: (n: number) => string;
  nothingChanged: string;
  prunedGenerations: (n: number) => string;
  failedDocuments: (n: number) => string;
}

/** What came of a job, in a few words. */
export function outcomeOf(report: Report, words: OutcomeWords): string {
  if (report.generations) return words.prunedGenerations(report.generations.length);
  if (report.indexed === undefined) return "";
  const written = report.indexed + (report.carried ?? 0);
  const failed = report.failed?.length ?? 0;
  return [written > 0 ? words.documents(written) : words.nothingChanged, failed > 0 && words.failedDocuments(failed)]
    .filter(Boolean)
    .join(", ");
}

/** What asks for the same once more; none for what a request cannot ask for. */
export function againOf(job: Job): Schemas["JobRequest"] | null {
  const { task } = job;
  const kind = kindOf(job);
  if (task.kind === "index" && kind === "index")
    return { kind, collection: task.collection, request: task.request, settings: job.settings ?? {} };
  if (task.kind === "index" && kind === "reindex")
    return { kind, collection: task.collection, settings: job.settings ?? {} };
  if (task.kind === "index" && kind === "migrate")
    return {
      kind,
      collection: task.collection,
      embedder: (job.settings?.["embedder"] as string | undefined) ?? "none",
    };
  if (task.kind === "prune") return { kind: "prune", collection: task.collection, request: task.request };
  return null;
}
