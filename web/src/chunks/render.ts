// Markdown as harmless markup. Loaded when a rendered view is asked for. Nothing in it leads anywhere or loads anything: links and
// pictures become text that says where they would lead.

import createDOMPurify from "dompurify";
import { marked } from "marked";

const purify = createDOMPurify(window);
const TAGS = ["h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "hr", "br", "em", "strong", "del", "a", "img", "sub", "sup", "dl", "dt", "dd", "kbd", "details", "summary"];

export async function render(text: string): Promise<DocumentFragment> {
  const markup = await marked.parse(text, { gfm: true, async: true });
  const fragment = purify.sanitize(markup, { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ["href", "alt", "start", "align"], ALLOW_DATA_ATTR: false, RETURN_DOM_FRAGMENT: true });
  for (const link of fragment.querySelectorAll("a")) link.replaceWith(inert(link.getAttribute("href"), ...link.childNodes));
  for (const picture of fragment.querySelectorAll("img")) picture.replaceWith(inert(null, `[${picture.getAttribute("alt") || "image"}]`));
  return fragment;
}

function inert(where: string | null, ...nodes: (Node | string)[]): HTMLElement {
  const span = document.createElement("span");
  span.className = "link";
  if (where) span.title = where;
  span.append(...nodes);
  return span;
}
