// What moved between the hits of two configurations.

import { keyOf, type Hit } from "./setup.ts";

export type Movement =
  | { kind: "same" }
  /** Ranks: positive is nearer to the top on the side that is looked at. */
  | { kind: "moved"; by: number }
  /** The other side has the same lines in another chunk: it was cut in another way. */
  | { kind: "recut"; rank: number }
  | { kind: "only" };

export interface Comparison {
  a: Movement[];
  b: Movement[];
  /** Hits of both, and of one alone. */
  both: number;
  onlyA: number;
  onlyB: number;
  /** Hits of A whose lines B has in another chunk. */
  recut: number;
  /** Whether both begin with the same hit, be it cut otherwise. */
  sameFirst: boolean;
  /** How alike the rankings are, from 0 to 1: the overlap of their beginnings, averaged over all depths. */
  likeness: number;
}

const idOf = (hit: Hit): string => `${hit.collection}/${hit.chunk_id}`;
const overlaps = (a: Hit, b: Hit): boolean =>
  a.doc_id === b.doc_id
  && a.collection === b.collection
  && keyOf(a) !== keyOf(b)
  && a.start_byte < b.end_byte
  && b.start_byte < a.end_byte;

function movements(hits: Hit[], others: Hit[]): Movement[] {
  const at = new Map(others.map((hit, place) => [idOf(hit), place]));
  return hits.map((hit, place) => {
    const other = at.get(idOf(hit));
    if (other === undefined) {
      const recut = others.find((candidate) => overlaps(hit, candidate));
      return recut ? { kind: "recut", rank: recut.rank } : { kind: "only" };
    }
    return other === place ? { kind: "same" } : { kind: "moved", by: other - place };
  });
}

export function compare(a: Hit[], b: Hit[]): Comparison {
  const [ofA, ofB] = [movements(a, b), movements(b, a)];
  const both = ofA.filter(({ kind }) => kind === "same" || kind === "moved").length;
  const recut = (list: Movement[]) => list.filter(({ kind }) => kind === "recut").length;
  // Where the other side has what stands at a place here; none if it has not.
  const matches = a.map((hit) => b.findIndex((other) => idOf(other) === idOf(hit) || overlaps(hit, other)));
  const depth = Math.max(a.length, b.length);
  let likeness = 0;
  for (let n = 0; n < depth; n += 1)
    likeness += matches.slice(0, n + 1).filter((at) => at >= 0 && at <= n).length / (n + 1) / depth;
  return {
    a: ofA,
    b: ofB,
    both,
    recut: recut(ofA),
    onlyA: a.length - both - recut(ofA),
    onlyB: b.length - both - recut(ofB),
    likeness: depth === 0 ? 1 : Math.min(1, likeness),
    sameFirst: matches[0] === 0,
  };
}
