// A search as an agent makes it: the tool `search` of the MCP server, by JSON-RPC over streamable HTTP.

import { api, Failure, failureOf, ok, requestOf, send } from "../../api/client.ts";
import { memberOf, messageOf, pathOf, type Call, type Form } from "./message.ts";

/** A version of the protocol whose clients know `structuredContent`, and need not say who they are. */
const VERSION = "2025-06-18";

export interface AgentAnswer {
  /** The result, character for character as it was sent. */
  sent: string;
  /** What of it a model is shown: `structuredContent`, or the text. */
  read: string;
  isError: boolean;
  took: number;
}

export async function callSearch(call: Call, form: Form, signal: AbortSignal): Promise<AgentAnswer> {
  const begun = performance.now();
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
  };
  const response = await send(
    requestOf(pathOf(form), { method: "POST", headers, body: JSON.stringify(messageOf(call, form)), signal }),
  );
  if (!response.ok) throw await failureOf(response);
  const body = await response.text();
  // An answer may come as a stream of one event.
  const json = body.startsWith("{") ? body : (/^data: ?(\{.*)$/mu.exec(body)?.[1] ?? "{}");
  const { error, result } = JSON.parse(json) as {
    error?: { message: string; code: number };
    result?: { content?: { type: string; text?: string }[]; structuredContent?: unknown; isError?: boolean };
  };
  if (error || !result)
    throw new Failure(
      { detail: error?.message ?? body.slice(0, 200), code: String(error?.code ?? "") },
      response.status,
      response.headers.get("x-request-id"),
    );
  const sent = memberOf(json, "result") ?? "";
  const text = (result.content ?? []).map(({ text = "" }) => text).join("\n");
  const read = form === "structured" && result.structuredContent ? (memberOf(sent, "structuredContent") ?? "") : text;
  return { sent, read, isError: result.isError === true, took: performance.now() - begun };
}

/** Tokens of a text by the counter of the server: a document of one chunk, of which nothing is stored. */
export async function countTokens(text: string, signal: AbortSignal): Promise<{ tokens: number; tokenizer: string }> {
  const settings = { preset: "recursive", unit: "tokens", max_size: 1_000_000_000, overlap_size: 0 };
  const { statistics } = await ok(
    api.POST("/api/v1/preview", { body: { doc_id: "answer.txt", text, settings } as never, signal }),
  );
  return { tokens: statistics.tokens.sum, tokenizer: statistics.tokenizer };
}
