// Server-sent events by `fetch`, since an EventSource sends no key.

import { forget } from "./answers.ts";
import { failureOf, Failure, requestOf, send, type Schemas } from "./client.ts";
import { eventsOf } from "./sse.ts";

/** The collection that a job is about. */
export const collectionOf = ({ task }: Schemas["Job"]): string | null =>
  "collection" in task ? task.collection : task.kind === "evaluate" ? (task.request.collection ?? null) : null;

const revisions = new Map<number, number>();

/** Takes note of what is heard of a job: what is known of its collection is forgotten when there is news. */
export function noted(job: Schemas["Job"]): void {
  if (revisions.get(job.id) === job.revision) return;
  revisions.set(job.id, job.revision);
  forget(collectionOf(job) ?? undefined);
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** A job as it goes on, until it ended. Comes back where the connection broke. */
export async function* follow(job: number, signal: AbortSignal): AsyncGenerator<Schemas["Job"]> {
  let seen = "";
  for (let failures = 0; !signal.aborted;) {
    try {
      const headers: Record<string, string> = { accept: "text/event-stream", ...(seen && { "last-event-id": seen }) };
      const response = await send(requestOf(`/api/v1/jobs/${job}/events`, { headers, signal }));
      if (response.status === 204) return forget();
      if (!response.ok || !response.body) throw await failureOf(response);
      for await (const { event, id, data } of eventsOf(response.body)) {
        failures = 0;
        seen = id;
        const news = JSON.parse(data) as Schemas["Job"];
        noted(news);
        yield news;
        if (event === "end") return;
      }
    } catch (failure) {
      if (signal.aborted) return;
      const isFinal =
        failure instanceof Failure && failure.status >= 400 && failure.status < 500 && failure.status !== 429;
      if (isFinal || (failures += 1) > 5) throw failure;
    }
    await pause(500 * 2 ** failures, signal);
  }
}
