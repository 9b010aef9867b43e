// Messages of JSON-RPC as an agent sends them, and answers as they were written.

export type Form = "text" | "structured" | "chatgpt";
export const FORMS: Form[] = ["text", "structured", "chatgpt"];

export interface Call {
  query: string;
  limit?: number;
  offset?: number;
  collection?: string;
  filter?: string;
}

export const pathOf = (form: Form): string => (form === "chatgpt" ? "/mcp?tools=chatgpt" : "/mcp");

/** The message of a call. The tools for ChatGPT take a query alone. */
export function messageOf(call: Call, form: Form): object {
  const args =
    form === "chatgpt" ? { query: call.query } : { ...call, ...(form === "structured" && { format: "structured" }) };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search", arguments: args } };
}

/** Number of hits in an answer in Markdown: lines that end with the id of a chunk. */
export const hitsIn = (markdown: string): number =>
  (markdown.match(/\| (?:chunk:\/\/\S+\/)?[0-9a-f]{32}$/gmu) ?? []).length;

/** Where a JSON value that begins at `at` ends. */
function skip(json: string, at: number): number {
  if (json[at] === '"') {
    for (at += 1; json[at] !== '"'; at += 1) if (json[at] === "\\") at += 1;
    return at + 1;
  }
  if (json[at] !== "{" && json[at] !== "[") {
    while (at < json.length && !/[,\]}\s]/u.test(json[at]!)) at += 1;
    return at;
  }
  let depth = 0;
  do {
    const c = json[at]!;
    if (c === '"') {
      at = skip(json, at);
      continue;
    }
    if (c === "{" || c === "[") depth += 1;
    if (c === "}" || c === "]") depth -= 1;
    at += 1;
  } while (depth > 0 && at < json.length);
  return at;
}

/** The text of a member of an object in JSON, as it stands there: to parse and write it anew could change it. */
export function memberOf(json: string, name: string): string | null {
  const blank = (at: number) => {
    while (/[\s,:]/u.test(json[at] ?? "")) at += 1;
    return at;
  };
  let at = json.indexOf("{") + 1;
  if (at === 0) return null;
  for (at = blank(at); json[at] === '"'; at = blank(at)) {
    const end = skip(json, at);
    const key = JSON.parse(json.slice(at, end)) as string;
    const from = blank(end);
    at = skip(json, from);
    if (key === name) return json.slice(from, at);
  }
  return null;
}
