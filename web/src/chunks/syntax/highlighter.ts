// Syntax colours by lines. Modes go through a source from its begin, so their state is kept every few lines; lines that are seen are
// read at once when a state is near, and the rest while the browser has time. Nothing waits for colours.

import { StringStream } from "./stream.ts";

/** A mode of CodeMirror's stream parsers. */
export interface Mode {
  startState?(indentUnit: number): unknown;
  copyState?(state: unknown): unknown;
  token(stream: StringStream, state: unknown): string | null;
  blankLine?(state: unknown, indentUnit: number): void;
}

/** The classes of colours. */
export const KINDS = ["", "keyword", "string", "number", "comment", "name", "type", "heading"] as const;

const EVERY = 64;
/** Longer lines are data, not prose: they have no colours. */
const LONGEST = 4000;
const NONE = new Uint32Array(0);

const known = new Map<string, number>();
function kindOf(style: string): number {
  let kind = known.get(style);
  if (kind === undefined) {
    const is = (words: RegExp) => words.test(style);
    const name = is(/heading|strong/u)
      ? "heading"
      : is(/comment|emphasis|quote/u)
        ? "comment"
        : is(/string|regexp|special|escape/u)
          ? "string"
          : is(/number|atom|bool|null|link|url/u)
            ? "number"
            : is(/type|class|tag|attribute|meta|builtin|standard/u)
              ? "type"
              : is(/function|def|property/u)
                ? "name"
                : is(/keyword|modifier|control/u)
                  ? "keyword"
                  : "";
    kind = KINDS.indexOf(name);
    known.set(style, kind);
  }
  return kind;
}

export class Highlighter {
  #states: unknown[] = [];
  #tokens = new Map<number, Uint32Array>();
  #copy: (state: unknown) => unknown;
  #idle = 0;

  constructor(
    private readonly source: string,
    private readonly lineStart: Uint32Array,
    private readonly mode: Mode,
    private readonly onprogress: () => void,
  ) {
    this.#copy = (state) => mode.copyState?.(state) ?? structuredCloneOf(state);
    this.#states.push(mode.startState?.(2) ?? {});
  }

  /** The tokens of a line, or null while they are not known. */
  of(line: number): Uint32Array | null {
    const found = this.#tokens.get(line);
    if (found) return found;
    const block = Math.floor(line / EVERY);
    // A few blocks are read on the spot, more in the background.
    if (block < this.#states.length + 2) {
      while (this.#states.length <= block) this.#read(this.#states.length - 1);
      this.#read(block);
      return this.#tokens.get(line) ?? null;
    }
    this.#later(block);
    return null;
  }

  stop(): void {
    clearTimeout(this.#idle);
  }

  #later(block: number): void {
    if (this.#idle) return;
    this.#idle = window.setTimeout(() => {
      this.#idle = 0;
      const stop = performance.now() + 8;
      while (this.#states.length <= block && performance.now() < stop) this.#read(this.#states.length - 1, false);
      if (this.#states.length <= block) this.#later(block);
      else this.onprogress();
    });
  }

  /** Reads a block of lines from the state at its begin. */
  #read(block: number, keeps = true): void {
    const state = this.#copy(this.#states[block]);
    const last = Math.min(this.lineStart.length - 1, (block + 1) * EVERY);
    if (this.#tokens.size > 20_000) this.#tokens.clear();
    for (let line = block * EVERY; line < last; line += 1) {
      const tokens = this.#line(line, state, keeps);
      if (keeps) this.#tokens.set(line, tokens);
    }
    if (this.#states.length === block + 1) this.#states.push(state);
  }

  #line(line: number, state: unknown, keeps: boolean): Uint32Array {
    const text = this.source.slice(this.lineStart[line], this.lineStart[line + 1]).replace(/[\r\n]+$/u, "");
    if (text.length > LONGEST) return NONE;
    if (text === "") return (this.mode.blankLine?.(state, 2), NONE);
    const stream = new StringStream(text);
    const out: number[] = [];
    try {
      while (!stream.eol()) {
        stream.start = stream.pos;
        const style = this.mode.token(stream, state);
        // A mode may only change its state, a few times in a row.
        for (let n = 0; stream.pos <= stream.start && n < 10; n += 1) this.mode.token(stream, state);
        if (stream.pos <= stream.start) stream.pos = stream.start + 1;
        const kind = style ? kindOf(style) : 0;
        if (kind > 0 && keeps) out.push(stream.start, stream.pos, kind);
      }
    } catch {
      return NONE;
    }
    return Uint32Array.from(out);
  }
}

function structuredCloneOf(state: unknown): unknown {
  if (typeof state !== "object" || state === null) return state;
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, Array.isArray(value) ? value.slice() : value]),
  );
}
