// Characters that change what is seen without being seen: controls, direction marks and overrides, zero-width spaces, tags. They
// are shown by their code. The joiners stay: scripts and emoji need them.

export const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

export interface Run {
  text: string;
  unseen: boolean;
}

/** Text in runs, each unseen character one of its own by its code. */
export function runs(text: string): Run[] {
  const out: Run[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index > at) out.push({ text: text.slice(at, index), unseen: false });
    out.push({ text: codeOf(character), unseen: true });
    at = index + character.length;
  }
  if (at < text.length) out.push({ text: text.slice(at), unseen: false });
  return out;
}

/** What a reader is shown of a chunk: its content, or what that renders as in its text. */
export function shownOf({ content, context, text }: { content: string; context: string; text?: string }): string {
  if (text === undefined || !text.startsWith(context)) return content;
  const body = text.slice(context.length);
  return body.startsWith(content.replace(/\r\n?/gu, "\n")) ? content : body;
}

/** The first and the last line with visible text, cut to a length. */
export function firstLine(text: string, length = 200): string {
  return tidy(/\S[^\r\n]*/u.exec(text)?.[0] ?? "", length);
}
export function lastLine(text: string, length = 200): string {
  const end = text.trimEnd();
  return tidy(end.slice(Math.max(end.lastIndexOf("\n"), end.lastIndexOf("\r")) + 1), length);
}
function tidy(line: string, length: number): string {
  const points = Array.from(
    line
      .slice(0, 4 * length)
      .replace(/\s+/gu, " ")
      .trim(),
  );
  return points.length > length ? `${points.slice(0, length - 1).join("")}…` : points.join("");
}
