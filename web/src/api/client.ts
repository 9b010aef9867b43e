// The API, typed by our OpenAPI document. `ok` gives the answer or throws a `Failure`.

import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";
import { base, home } from "../base.ts";
import { answered } from "./answers.ts";
import { askForKey, key } from "./key.svelte.ts";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];
export type { paths, FetchResponse, MaybeOptionalInit };

/** A request that failed: with problem details, or without an answer. */
export class Failure extends Error {
  override name = "Failure";
  constructor(
    readonly problem: Partial<Problem>,
    readonly status: number,
    readonly requestId: string | null,
    options?: ErrorOptions,
  ) {
    super(problem.detail ?? problem.title ?? `status ${status}`, options);
  }
  /** Whether the server did not answer at all. */
  get offline(): boolean {
    return this.status === 0;
  }
}

/** Sends a request, unless its answer is known. */
export const send = (request: Request): Promise<Response> => answered(request, exchange);

/** Sends a request with the key, and asks for one when the server wants another. */
async function exchange(request: Request): Promise<Response> {
  for (;;) {
    const attempt = request.clone();
    const used = key();
    if (used) attempt.headers.set("Authorization", `Bearer ${used}`);
    const response = await fetch(attempt).catch((cause: unknown) => {
      if (request.signal.aborted) throw cause;
      throw new Failure({}, 0, null, { cause });
    });
    if (response.status !== 401 && response.status !== 403) return response;
    const { code } = (await response
      .clone()
      .json()
      .catch(() => ({}))) as Partial<Problem>;
    const asks = code === "unauthorized" || code === "insufficient_scope";
    // Another request may have got a key while this one was on its way.
    if (!asks || !(key() !== used || (await askForKey(used, code)))) return response;
  }
}

export const api = createClient<paths>({ baseUrl: home, fetch: send });

/** A request of a path of the server. */
export const requestOf = (path: string, init?: RequestInit): Request => new Request(base + path, init);

/** The failure that an answer is. */
export async function failureOf(response: Response): Promise<Failure> {
  const problem = (await response
    .clone()
    .json()
    .catch(() => ({}))) as Partial<Problem>;
  return new Failure(problem, response.status, response.headers.get("x-request-id"));
}

interface Answer<T> {
  data?: T | undefined;
  error?: unknown;
  response: Response;
}

/** The data of an answer. Throws a `Failure` for any other. */
export async function ok<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  throw new Failure(error ?? {}, response.status, response.headers.get("x-request-id"));
}

/** The text of a document, as it was decoded: the text that chunks are spans of. */
export async function sourceOf(collection: string, doc_id: string, signal?: AbortSignal): Promise<string> {
  return ok<string>(
    api.GET("/api/v1/collections/{collection}/documents/{doc_id}/source", {
      params: { path: { collection, doc_id }, query: { form: "text" } },
      parseAs: "text",
      ...(signal && { signal }),
    }),
  );
}
