// The original of a document as markup that does nothing: no script, no style, no address of it is kept.

import { harmless, purify, render, withoutHandlers } from "../../../chunks/render.ts";
import type { Kind } from "./kinds.ts";
import { placesIn } from "./places.ts";

/** What a page shows only by its own programs, or what hides the text around it. */
const FORBID_TAGS = ["style", "form", "input", "button", "textarea", "select", "dialog", "template", "noscript", "svg"];

function web(html: string): DocumentFragment {
  const fragment = purify.sanitize(withoutHandlers(html), {
    USE_PROFILES: { html: true },
    FORBID_TAGS,
    FORBID_ATTR: ["style", "class", "id", "name", "hidden", "popover", "tabindex", "autofocus"],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  return harmless(fragment);
}

export const drawn = (source: string, kind: Kind): Promise<DocumentFragment> =>
  kind === "web" ? Promise.resolve(web(source)) : render(source);

/** The document that an original is put into: alone, without scripts, and with nothing to load. */
export const FRAME = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'"><body></body>`;

const STYLE = `
:root { color-scheme: light dark; background: Canvas; color: CanvasText; font: 14px/1.55 system-ui, sans-serif; }
body { margin: 0; padding: 16px 20px 40px; max-width: 84ch; overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; }
pre { overflow: auto; padding: 8px 10px; border: 1px solid color-mix(in srgb, CanvasText, transparent 80%); white-space: pre-wrap; }
table { border-collapse: collapse; display: block; overflow: auto; }
th, td { border: 1px solid color-mix(in srgb, CanvasText, transparent 75%); padding: 3px 8px; text-align: start; vertical-align: top; }
.link { text-decoration: underline dotted; }
.unseen { opacity: 0.7; font-size: 11px; }
::highlight(chunk) { background: light-dark(#ffe58a, #5c4a0a); }
`;

/** Puts markup into a frame. */
export function fill(frame: HTMLIFrameElement, markup: DocumentFragment): void {
  const [inner, view] = [frame.contentDocument, frame.contentWindow as (Window & typeof globalThis) | null];
  if (!inner || !view) return;
  // A sheet that is constructed needs no style in the markup, which the policy forbids.
  const sheet = new view.CSSStyleSheet();
  sheet.replaceSync(STYLE);
  inner.adoptedStyleSheets = [sheet];
  inner.body.replaceChildren(inner.importNode(markup, true));
}

/** Marks where a chunk stands, and scrolls there; whether it was found. */
export function markIn(frame: HTMLIFrameElement, content: string, near: number): boolean {
  const [inner, view] = [frame.contentDocument, frame.contentWindow as (Window & typeof globalThis) | null];
  if (!inner || !view) return false;
  const nodes: [Text, number][] = [];
  let whole = "";
  const walker = inner.createTreeWalker(inner.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push([node, whole.length]);
    whole += node.data;
  }
  const ranges = placesIn(whole, content, near).flatMap(([from, to]) =>
    nodes.flatMap(([node, start]) => {
      const [first, last] = [Math.max(0, from - start), Math.min(node.length, to - start)];
      if (first >= last) return [];
      const range = inner.createRange();
      range.setStart(node, first);
      range.setEnd(node, last);
      return [range];
    }),
  );
  if ("highlights" in view.CSS) view.CSS.highlights.set("chunk", new view.Highlight(...ranges));
  const box = ranges[0]?.getBoundingClientRect();
  if (box && (box.top < 0 || box.bottom > view.innerHeight)) view.scrollBy(0, box.top - view.innerHeight / 4);
  return ranges.length > 0;
}
