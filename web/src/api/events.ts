// Server-sent events by `fetch`, since an EventSource sends no key.

import { failureOf, Failure, requestOf, send, type Schemas } from "./client.ts";
import { eventsOf } from "./sse.ts";

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
      if (response.status === 204) return;
      if (!response.ok || !response.body) throw await failureOf(response);
      for await (const { event, id, data } of eventsOf(response.body)) {
        failures = 0;
        seen = id;
        yield JSON.parse(data) as Schemas["Job"];
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
