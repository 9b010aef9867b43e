// What of a collection is looked at: from the address to an expression of the API's filter language.

import { LEVELS } from "../../chunks/levels.ts";
import type { Level } from "../../chunks/types.ts";

/** What the address says. Empty texts say nothing. */
export interface Wanted {
  /** An expression that was typed. */
  filter: string;
  document: string;
  type: string;
  language: string;
  levels: Level[];
  /** Least and greatest number of tokens. */
  from: number | null;
  to: number | null;
}

const number = (text: string): number | null => (/^\d{1,9}$/u.test(text) ? Number(text) : null);

export const wantedOf = (param: (name: string) => string): Wanted => ({
  filter: param("filter").trim(),
  document: param("document").trim(),
  type: param("type"),
  language: param("language"),
  levels: LEVELS.filter((level) => param("levels").split(",").includes(level)),
  from: number(param("from")),
  to: number(param("to")),
});

/** A value of a condition, whatever characters it has. */
export const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/gu, "\\$&")}"`;

/** Expressions that all have to hold. */
export const all = (...parts: (string | null | undefined | false)[]): string => {
  const given = parts.filter((part): part is string => Boolean(part));
  return given.length === 1 ? given[0]! : given.map((part) => `(${part})`).join(" and ");
};

/** One document. */
export const ofOne = (doc_id: string): string => `doc_id=${quoted(doc_id)}`;

/** A part of a path, or a pattern. */
export const ofDocument = (text: string): string => text && `path=${quoted(text)}`;

/** What the distribution is of: everything but the choice of sizes. */
export const scopeOf = ({ filter, document, type, language }: Wanted): string =>
  all(filter, ofDocument(document), type && `content_type=${quoted(type)}`, language && `language=${quoted(language)}`);

export const sizesOf = ({ levels, from, to }: Pick<Wanted, "levels" | "from" | "to">): string =>
  all(
    from !== null && from > 0 && `token_count>=${from}`,
    to !== null && `token_count<=${to}`,
    levels.length > 0 && levels.length < LEVELS.length && levels.map((level) => `token_level=${level}`).join(" or "),
  );

/** Which chunks are listed. */
export const listed = (wanted: Wanted): string => all(scopeOf(wanted), sizesOf(wanted));

/** Files that hold data rather than text, as indexing has them. */
export const DATA = [
  "csv",
  "tsv",
  "json",
  "jsonl",
  "ndjson",
  "geojson",
  "ipynb",
  "log",
  "xml",
  "svg",
  "yaml",
  "yml",
  "lock",
  "map",
  "txt",
  "sql",
  "css",
];

export const ofExtensions = (extensions: string[]): string =>
  extensions.length === 1 ? `doc_id~**/*.${extensions[0]}` : `doc_id~**/*.{${extensions.join(",")}}`;
