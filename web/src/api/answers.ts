// Answers about collections that were given a short time ago: a page that one goes back to does not ask for them again.

import { base } from "../base.ts";
import { Cache } from "./cache.ts";

interface Answer {
  status: number;
  headers: [string, string][];
  body: ArrayBuffer;
}

/** What this page or a job changes is forgotten at once; what other clients change is seen within this time. */
const AGE = 30_000;
const BYTES = 16_000_000;

const answers = new Cache<Answer>({ age: AGE, bytes: BYTES }, ({ status, body }) =>
  status === 200 ? body.byteLength : Infinity,
);

/** Forgets what is known of a collection and of all together; without a name everything. */
export const forget = (collection?: string): void => answers.drop(collection);

/** The collection that a path of the server is about: an empty string for all of them, undefined for none. */
export function subjectOf(path: string): string | undefined {
  const found = /^\/api\/v1\/(?:collections|presets|registries)(?:\/([^/]*)|$)/u.exec(path.slice(base.length));
  // A version of a collection changes with it.
  return found ? decodeURIComponent(found[1] ?? "").replace(/@\d+$/u, "") : undefined;
}

/** Answers a request by what is known, else by sending it. One that changes a collection makes what is known of it forgotten. */
export async function answered(request: Request, send: (request: Request) => Promise<Response>): Promise<Response> {
  const subject = subjectOf(new URL(request.url).pathname);
  if (subject === undefined) return send(request);
  if (request.method !== "GET") {
    try {
      return await send(request);
    } finally {
      forget(subject);
    }
  }
  if (request.cache === "no-store") return send(request);
  const { body, ...rest } = await answers.get(request.url, subject, request.signal, async (signal) => {
    const response = await send(new Request(request, { signal }));
    return { status: response.status, headers: [...response.headers], body: await response.arrayBuffer() };
  });
  return new Response(body, rest);
}
