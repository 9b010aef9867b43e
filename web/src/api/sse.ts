// The format of server-sent events.

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
