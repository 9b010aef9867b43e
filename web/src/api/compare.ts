// Compares a collection with what other settings would make of it: at once, or by a job where it has too many chunks for that.

import { api, Failure, failureOf, ok, send, type Schemas } from "./client.ts";
import { follow } from "./events.ts";
import { isActive, shareOf } from "./jobs.svelte.ts";

export interface Comparison {
  summary: Schemas["Summary"];
  changes: Schemas["Change"][];
  notices?: Schemas["Notice"][] | undefined;
}

/** `onshare` is told how much is done, from 0 to 1, where a job compares; it is cancelled with the signal. */
export async function compare(
  collection: string,
  request: Partial<Schemas["PlannedDiffRequest"]>,
  signal: AbortSignal,
  onshare?: (share: number) => void,
): Promise<Comparison> {
  try {
    return await ok(
      api.POST("/api/v1/collections/{collection}/diff", {
        params: { path: { collection } },
        body: request as never,
        signal,
      }),
    );
  } catch (failure) {
    if (!(failure instanceof Failure && failure.problem.code === "too_large")) throw failure;
  }
  let job = await ok(
    api.POST("/api/v1/jobs", { body: { kind: "diff", collection, request } as Schemas["JobRequest"] }),
  );
  const path = { job: job.id };
  const cancel = () => void api.DELETE("/api/v1/jobs/{job}", { params: { path } }).catch(() => {});
  if (signal.aborted) cancel();
  signal.throwIfAborted();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    onshare?.(0);
    for await (const next of follow(job.id, signal)) onshare?.(shareOf((job = next)) ?? 0);
    signal.throwIfAborted();
    // A stream that was over already sent nothing.
    if (isActive(job)) job = await ok(api.GET("/api/v1/jobs/{job}", { params: { path }, signal }));
    if (job.state !== "succeeded") throw new Error(job.error?.message ?? job.state);
    const answer = job.answer as Omit<Comparison, "changes">;
    return { ...answer, changes: request.summary_only ? [] : await changesOf(job.id, signal) };
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** The lines of the result but the last, which is the summary. */
async function changesOf(job: number, signal: AbortSignal): Promise<Schemas["Change"][]> {
  const response = await send(new Request(`/api/v1/jobs/${job}/result`, { signal }));
  if (!response.ok) throw await failureOf(response);
  const lines = (await response.text()).trimEnd().split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Schemas["Change"]);
}
