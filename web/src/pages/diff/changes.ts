// What became of the chunks of a collection, by document and kind.

import type { components } from "../../api/schema.d.ts";

type Schemas = components["schemas"];
export type Change = Schemas["Change"];
export type Overlay = Schemas["ListedOverlay"];

export const KINDS = ["kept", "moved", "changed", "added", "removed"] as const;
export type Kind = (typeof KINDS)[number];

/** A sign of each kind, so that colour is never alone. */
export const SIGNS: Record<Kind, string> = { kept: "=", moved: "↕", changed: "~", added: "+", removed: "−" };

/** A text of a renamed document is where it was, under another id. */
export const kindOf = ({ kind }: Change): Kind => (kind === "renamed" ? "moved" : kind);

export type Counts = Record<Kind, number>;

export interface DocumentChanges {
  doc_id: string;
  changes: Change[];
  counts: Counts;
  /** Tokens of its texts that are to be embedded. */
  tokens: number;
}

const none = (): Counts => ({ kept: 0, moved: 0, changed: 0, added: 0, removed: 0 });

/** The changes of each document, in the order of the answer. */
export function byDocument(changes: Change[]): DocumentChanges[] {
  const documents = new Map<string, DocumentChanges>();
  for (const change of changes) {
    let document = documents.get(change.doc_id);
    if (!document)
      documents.set(change.doc_id, (document = { doc_id: change.doc_id, changes: [], counts: none(), tokens: 0 }));
    document.changes.push(change);
    document.counts[kindOf(change)] += 1;
    if (change.embed) document.tokens += change.new?.token_count ?? 0;
  }
  return [...documents.values()];
}

/** Documents that have a change of these kinds, of all kinds if none is chosen, and whose id has the text. */
export function filtered(documents: DocumentChanges[], kinds: ReadonlySet<Kind>, query: string): DocumentChanges[] {
  const wanted = query.trim().toLowerCase();
  return documents.filter(
    ({ doc_id, counts }) =>
      (kinds.size === 0 || KINDS.some((kind) => kinds.has(kind) && counts[kind] > 0))
      && doc_id.toLowerCase().includes(wanted),
  );
}

export interface Affected {
  overlay: Overlay;
  change: Change;
}

/** Changes by hand on chunks that are changed or removed: the chunk that each is on now, else the one that it was made for. */
export function affected(overlays: Overlay[], changes: Change[]): Affected[] {
  const gone = new Map<string, Change>();
  for (const change of changes)
    if (change.old && (change.kind === "changed" || change.kind === "removed")) gone.set(change.old.chunk_id, change);
  return overlays.flatMap((overlay) => {
    const change = gone.get(overlay.on ?? overlay.chunk_id);
    return change ? [{ overlay, change }] : [];
  });
}
