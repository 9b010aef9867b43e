// Why a document is cut as it is: the document is cut again by its collection's settings, and each chunk says why.

import { isConverted } from "./original/kinds.ts";
import { api, ok, type Schemas } from "../../api/client.ts";
import type { Chunk } from "../../chunks/types.ts";
import type { Messages } from "../../i18n/index.svelte.ts";
import type { DocumentData } from "./data.svelte.ts";

export type Explained = Schemas["ExplainedChunk"];

/** Larger documents are explained when someone asks. */
const FREE = 1_500_000;

export class Explanations {
  /** By chunk; undefined while nothing is known. */
  known = $state.raw<Map<string, Explained>>();
  loading = $state(false);
  failure = $state.raw<unknown>();
  #asked = false;

  constructor(readonly data: DocumentData) {}

  /** Whether someone has to ask. */
  get isLarge(): boolean {
    return this.data.source.length > FREE;
  }

  ask = async (): Promise<void> => {
    const { data } = this;
    const { info, settings } = data;
    if (this.#asked || !info || !settings) return;
    this.#asked = this.loading = true;
    try {
      const body = {
        doc_id: data.doc_id,
        text: data.source,
        // What was converted is Markdown here, whatever its file was.
        hint: { format: isConverted(info.format) ? "markdown" : info.format },
        settings,
        explain: true,
      } as Schemas["PreviewRequest"];
      const { explanations = [] } = await ok(api.POST("/api/v1/preview", { body, signal: data.signal }));
      this.known = new Map(explanations.map((one) => [one.chunk_id, one]));
      this.failure = undefined;
    } catch (failure) {
      if (!data.signal.aborted) this.failure = failure;
      this.#asked = false;
    } finally {
      this.loading = false;
    }
  };
}

export const unitOf =
  (words: Messages["chunks"], unit: Schemas["Unit"]) =>
  (n: number): string =>
    unit === "chars" ? words.chars(n) : words.tokens(n);

/** Why a chunk begins, in a sentence. */
export function beginOf(messages: Messages, { begin }: Explained): string {
  const words = messages.document.why;
  const isNamed = begin.title && (begin.cut === "heading" || begin.cut === "symbol");
  if (isNamed) return capital(words.sectionBegins(words.blocks[begin.block] ?? begin.block, begin.title ?? ""));
  return messages.chunks.cut.reasons[begin.cut] ?? begin.cut;
}

/** Why a chunk ends, in a sentence. */
export function endOf(messages: Messages, { end, unit, max_size }: Explained): string {
  const words = messages.document.why;
  const sentence =
    end.why === "document"
      ? words.end
      : end.why === "section"
        ? end.title
          ? words.hard(end.title)
          : words.hardNamed
        : end.why === "full"
          ? words.full
          : end.why === "balanced"
            ? words.balanced
            : words.split(messages.chunks.cut.names[end.cut] ?? end.cut);
  return "size_with_next" in end
    ? `${sentence} (${words.withNext(unitOf(messages.chunks, unit)(end.size_with_next), max_size)})`
    : sentence;
}

/** What stands on the mark where a chunk begins: why it does, and what the chunk before would have been with it. */
export function markOf(messages: Messages, chunks: Chunk[], at: number, known: Map<string, Explained>): string {
  const [own, before] = [known.get(chunks[at]?.chunk_id ?? ""), known.get(chunks[at - 1]?.chunk_id ?? "")];
  if (!own) return "";
  const why = beginOf(messages, own);
  if (!before || !("size_with_next" in before.end)) return why;
  const size = unitOf(messages.chunks, before.unit)(before.end.size_with_next);
  return `${why} · ${messages.document.why.withBefore(before.chunk_index, size, before.max_size)}`;
}

const capital = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1);
