import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf } from "./sse.ts";

/** The events of a stream that comes in parts. */
async function check(parts: string[], expected: [string, string, string][]): Promise<void> {
  const bytes = parts.map((part) => new TextEncoder().encode(part));
  const stream = new ReadableStream<Uint8Array>({
    start: (to) => (bytes.forEach((part) => to.enqueue(part)), to.close()),
  });
  const seen: [string, string, string][] = [];
  for await (const { event, id, data } of eventsOf(stream)) seen.push([event, id, data]);
  assert.deepEqual(seen, expected);
}

test("an event has a name, an id and data", () =>
  check(["event: progress\nid: 7\ndata: {}\n\n"], [["progress", "7", "{}"]]));
test("events may come in any parts", () =>
  check(
    ["ev", "ent: end\ndata: a", "b\n", "\nevent: x\ndata: c\n\n"],
    [
      ["end", "", "ab"],
      ["x", "", "c"],
    ],
  ));
test("lines of data are joined, and comments are none", () =>
  check([": still here\n\ndata: a\ndata: b\n\n"], [["message", "", "a\nb"]]));
test("an event that was cut off is none", () => check(["data: a\n\ndata: b\n"], [["message", "", "a"]]));
