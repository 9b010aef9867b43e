// A document that is tried: its text or its bytes, and the text that its chunks are spans of.

import type { Schemas } from "../../api/client.ts";
import { toUtf16 } from "../../chunks/layout.ts";
import type { Chunk } from "../../chunks/types.ts";

/** What a request sends of a document. */
export type Sent = Pick<Schemas["PreviewRequest"], "doc_id" | "text" | "bytes" | "hint">;

/** A document that was dropped or pasted: it is in this page only. */
export interface Loose {
  name: string;
  sent: Partial<Sent>;
  text: string | null;
  bytes: number;
}

export const pasted = (name: string, text: string): Loose => ({
  name,
  sent: { doc_id: name, text },
  text,
  bytes: new Blob([text]).size,
});

/** Formats whose text is what they were converted to: a request that sends it must not name them. */
export const CONVERTED = new Set(["pdf", "docx", "pptx", "xlsx"]);

const BINARY = /\.(?:pdf|docx|docm|dotx|pptx|pptm|ppsx|potx|xlsx|xlsm|xltx)$/iu;

/** A file as it can be sent: as text where it is UTF-8 that is cut as it stands, else as its bytes. */
export async function opened(file: File): Promise<Loose> {
  const buffer = await file.arrayBuffer();
  if (!BINARY.test(file.name)) {
    try {
      return {
        ...pasted(file.name, new TextDecoder("utf-8", { fatal: true }).decode(buffer)),
        bytes: buffer.byteLength,
      };
    } catch {
      // Another encoding: the server finds out which.
    }
  }
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { name: file.name, sent: { doc_id: file.name, bytes: btoa(text) }, text: null, bytes: bytes.length };
}

/** The text that chunks are spans of: what was sent, if they are; else what they and the lines between them make. */
export function sourceFor(text: string | null, chunks: Chunk[]): string {
  if (text !== null) {
    const units = toUtf16(
      text,
      chunks.flatMap(({ start_char, end_char }) => [start_char, end_char]),
    );
    if (
      chunks.every(
        ({ content }, at) =>
          units[2 * at + 1]! - units[2 * at]! === content.length && text.startsWith(content, units[2 * at]),
      )
    )
      return text;
  }
  // Between chunks there is blank space only: as many characters and lines as their places say.
  let out = "";
  let at = 0;
  let line = 1;
  for (const { content, start_char, end_char, start_line } of chunks) {
    const gap = Math.max(0, start_char - at);
    const lines = Math.min(gap, Math.max(0, start_line - line));
    out += " ".repeat(gap - lines) + "\n".repeat(lines) + content;
    line = start_line + (content.match(/\r\n|\r|\n/gu)?.length ?? 0);
    at = end_char;
  }
  return out;
}
