// The data of the page stands in it as JSON elements: the settings, then one document each (see `page.rs` of the engine).

import type { Chunk } from "../chunks/types.ts";

export interface Settings {
  preset: string;
  tokenizer: string;
  strategy_version: string;
  config: { unit?: string; max_size: number };
}

export interface FileDocument {
  id: string;
  source: string;
  chunks: Chunk[];
}

interface Data {
  doc_id: string;
  /** What the source has between the chunks: before the first, ..., after the last. */
  gaps: string[];
  /** Fields that all chunks have, with the same value. */
  common: Partial<Chunk>;
  /** The rest. A `text` that is context, content and what closes them is left out; `tail` is what closes them. */
  chunks: (Partial<Chunk> & { tail?: string })[];
}

export const readSettings = (): Settings => JSON.parse(document.getElementById("settings")!.textContent) as Settings;

export function readDocuments(): FileDocument[] {
  return Array.from(document.querySelectorAll("script.document"), (element) => {
    const data = JSON.parse(element.textContent) as Data;
    element.remove();
    let source = data.gaps[0] ?? "";
    const chunks = data.chunks.map(({ tail = "", ...rest }, at) => {
      const chunk = { ...data.common, ...rest } as Chunk;
      chunk.text ??= chunk.context + chunk.content + tail;
      source += chunk.content + (data.gaps[at + 1] ?? "");
      return chunk;
    });
    return { id: data.doc_id, source, chunks };
  });
}
