// Markdown by lines: headings, fences with the language they name, quotes, lists, and what stands inside a line. It colours; what
// is cut where is for the parser to say.

import { languageNamed } from "./languages.ts";
import type { Mode } from "./highlighter.ts";
import { StringStream } from "./stream.ts";

interface State {
  fence: string;
  inner: { mode: Mode; state: unknown } | null;
  front: boolean;
  first: boolean;
}

const INLINE: [RegExp, string][] = [
  [/^(`+)(?:(?!\1).|[^`])*?\1(?!`)/u, "string"],
  [/^!?\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?/u, "link"],
  [/^<\/?[A-Za-z][^>]*>/u, "tag"],
  [/^<https?:[^>]+>|^https?:\/\/[^\s)>\]]+/u, "link"],
  [/^(\*\*|__)(?=\S)(?:.+?)\1/u, "strong"],
  [/^[*_](?=\S)[^*_]+[*_]/u, "emphasis"],
  [/^\\[!-/:-@[-`{-~]/u, "comment"],
];

export function markdown(fences: Map<string, Mode>): Mode {
  return {
    startState: (): State => ({ fence: "", inner: null, front: false, first: true }),
    copyState: (state: State): State => ({
      ...state,
      inner: state.inner && {
        mode: state.inner.mode,
        state: state.inner.mode.copyState?.(state.inner.state) ?? { ...(state.inner.state as object) },
      },
    }),
    token(stream: StringStream, state: State): string | null {
      if (stream.sol()) {
        const { first } = state;
        state.first = false;
        if (first && stream.match(/^---\s*$/u)) return ((state.front = true), "meta");
        if (state.front) {
          if (stream.match(/^(?:---|\.\.\.)\s*$/u)) state.front = false;
          stream.skipToEnd();
          return "meta";
        }
        const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)/u.exec(stream.string);
        if (state.fence) {
          if (fence && fence[1]!.startsWith(state.fence) && stream.string.trim() === fence[1]) {
            state.fence = "";
            state.inner = null;
            stream.skipToEnd();
            return "meta";
          }
        } else if (fence) {
          state.fence = fence[1]!;
          const mode = fences.get(languageNamed(fence[2]) ?? "");
          state.inner = mode ? { mode, state: mode.startState?.(2) ?? {} } : null;
          stream.skipToEnd();
          return "meta";
        }
      }
      if (state.fence) {
        if (state.inner) return state.inner.mode.token(stream, state.inner.state);
        stream.skipToEnd();
        return "string";
      }
      if (stream.sol()) {
        if (stream.match(/^ {0,3}#{1,6}(?:\s|$)/u) || stream.match(/^ {0,3}(?:=+|-{2,})\s*$/u))
          return (stream.skipToEnd(), "heading");
        if (stream.match(/^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s)?/u)) return "keyword";
        if (stream.match(/^\s*>+\s?/u)) return "comment";
        if (stream.match(/^\s*\|?[\s:|-]{3,}$/u)) return "comment";
      }
      for (const [pattern, kind] of INLINE) if (stream.match(pattern)) return kind;
      if (stream.eat("|")) return "comment";
      stream.next();
      stream.eatWhile(/[^`![<*_\\|h]/u);
      return null;
    },
  };
}
