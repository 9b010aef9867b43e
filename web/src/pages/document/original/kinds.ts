// How the original of a document is shown beside its chunks, by its format.

export type Kind = "pages" | "web" | "rendered";

/** Most characters of a text that is drawn at once. */
const MOST = 2_000_000;

/** Formats whose text is Markdown that a converter made. */
const CONVERTED = new Set(["pdf", "docx", "pptx", "xlsx", "epub", "rtf", "mail", "mbox", "vcard"]);

export const isConverted = (format: string): boolean => CONVERTED.has(format);

/** How the original of a document can be shown; undefined where its text is all there is of it. */
export function kindOf(format: string | undefined, source: string): Kind | undefined {
  if (format === "pdf") return "pages";
  if (format === undefined || source.length > MOST) return undefined;
  if (format === "html") return "web";
  return format === "markdown" || isConverted(format) ? "rendered" : undefined;
}
