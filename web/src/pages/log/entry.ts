// The log of queries, as the API answers it.

export const KINDS = ["search", "fetch", "outline", "references", "status", "index"] as const;

export interface Entry {
  /** Later ones have greater numbers. */
  number: number;
  at: string;
  /** Over which door it came. */
  door: "http" | "mcp";
  kind: (typeof KINDS)[number];
  query?: string | null;
  collections: string[];
  hits?: number | null;
  relevance?: number | null;
  took_ms?: number | null;
}

export interface LogPage {
  /** Whether the server was told to keep it. */
  enabled: boolean;
  entries: Entry[];
  next?: string | null;
}
