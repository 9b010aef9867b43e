// Questions whose answers are known, kept with a collection, and how well its versions find them.

import { failureOf, requestOf, send } from "../../api/client.ts";
import type { Hit, Mode } from "./setup.ts";

export interface Expected {
  doc_id: string;
  start_line: number;
  end_line: number;
}
export interface Question {
  id: string;
  question: string;
  expected: Expected[];
  created_at: string;
}
export interface Version {
  generation: number;
  state: string;
  strategy_version: string;
  mode: Mode;
  recall: number;
  mrr: number;
  ndcg: number;
  questions: { id: string; rank: number | null }[];
}
export interface Evaluation {
  k: number;
  versions: Version[];
}

/** `NAME@N` is a generation of the collection that has the questions. */
const pathOf = (collection: string, rest = ""): string =>
  `/api/v1/collections/${encodeURIComponent(collection.replace(/@\d+$/u, ""))}/questions${rest}`;

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const response = await send(
    requestOf(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }),
  );
  if (!response.ok) throw await failureOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const questionsOf = async (collection: string, signal?: AbortSignal): Promise<Question[]> =>
  (await call<{ questions: Question[] }>("GET", pathOf(collection), undefined, signal)).questions;

export const saveQuestion = (collection: string, question: string, expected: string[]): Promise<Question> =>
  call("POST", pathOf(collection), { question, expected });

export const deleteQuestion = (collection: string, id: string): Promise<void> =>
  call("DELETE", pathOf(collection, `/${encodeURIComponent(id)}`));

export const evaluate = (collection: string, modes: Mode[], k: number, signal?: AbortSignal): Promise<Evaluation> =>
  call("POST", pathOf(collection, "/evaluate"), { modes, k }, signal);

/** Lines of a hit, as a reference. */
export const linesOf = ({ doc_id, start_line, end_line }: Expected): string => `${doc_id}#L${start_line}-L${end_line}`;

export const isExpected = (hit: Hit, expected: Expected[]): boolean =>
  expected.some(
    ({ doc_id, start_line, end_line }) =>
      doc_id === hit.doc_id && start_line <= hit.end_line && hit.start_line <= end_line,
  );

/** The question that a query is, if it was saved. */
export const savedFor = (questions: Question[] | undefined, query: string): Question | undefined =>
  questions?.find(({ question }) => question.trim() === query.trim());
