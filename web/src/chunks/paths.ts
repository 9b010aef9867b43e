// Patterns of paths, as the API takes them.

/** The paths that have this text anywhere in them, in any case. */
export function pathsWith(text: string): string {
  const literal = text.replace(/[*?[\]{}\\,]/gu, "\\$&");
  const part = literal.replace(/\p{L}/gu, (c) =>
    c.toLowerCase() === c.toUpperCase() ? c : `[${c.toLowerCase()}${c.toUpperCase()}]`,
  );
  // In the last part of a path, and before that.
  return `{**/*${part}*,**/*${part}*/**}`;
}
