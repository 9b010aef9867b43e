import type { Format } from "../format.ts";

const several = (f: Format, n: number, one: string, other: string) => f.plural(n, { one, other });

export const log = (f: Format) => ({
  title: "Query log",
  local: "kept on this server only",
  off: "The log is off",
  offText:
    "It shows the queries of people and the tool calls of agents, and which of them found nothing. It stays on this server. Start the server with:",
  empty: "Nothing was asked yet",
  emptyText: "Queries and tool calls appear here as soon as somebody searches.",
  noMatch: "No entry passes the filter.",
  kind: "Kind",
  everyKind: "Every kind",
  kinds: {
    search: "search",
    fetch: "fetch",
    outline: "outline",
    references: "references",
    status: "status",
    index: "index",
  } as Record<string, string>,
  doors: { http: "HTTP", mcp: "agent" } as Record<string, string>,
  zeroOnly: "Without hits",
  at: "When",
  door: "From",
  query: "Query",
  hits: "Hits",
  relevance: "Relevance",
  took: "Took",
  noHits: "none",
  missed: "Queries that found nothing",
  times: (n: number) => several(f, n, "once", "# times"),
  fresh: (n: number) => several(f, n, "Show # new entry", "Show # new entries"),
  clear: "Clear log",
  clearTitle: "Clear the log?",
  clearText: "All entries are removed. This cannot be undone.",
  cleared: "The log is empty.",
});
