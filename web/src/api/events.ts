// Server-sent events by `fetch`, since an EventSource sends no key.

import { failureOf, Failure, send, type Schemas } from "./client.ts";

export interface Event {
  event: string;
  id: string;
  data: string;
}

/** The events of a stream, until it ends. */
export async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split(/\r\n\r\n|\n\n|\r\r/u);
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const event = { event: "message", id: "", data: "" };
        for (const line of part.split(/\r\n|\n|\r/u)) {
          const [name = "", ...tail] = line.split(":");
          const text = tail.join(":").replace(/^ /u, "");
          if (name === "data") event.data += (event.data && "\n") + text;
          else if (name === "event" || name === "id") event[name] = text;
        }
        if (event.data) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** A job as it goes on, until it ended. Comes back where the connection broke. */
export async function* follow(job: number, signal: AbortSignal): AsyncGenerator<Schemas["Job"]> {
  let seen = "";
  for (let failures = 0; !signal.aborted; ) {
    try {
      const headers: Record<string, string> = { accept: "text/event-stream", ...(seen && { "last-event-id": seen }) };
      const response = await send(new Request(`/api/v1/jobs/${job}/events`, { headers, signal }));
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
      const isFinal = failure instanceof Failure && failure.status >= 400 && failure.status < 500 && failure.status !== 429;
      if (isFinal || (failures += 1) > 5) throw failure;
    }
    await pause(500 * 2 ** failures, signal);
  }
}
