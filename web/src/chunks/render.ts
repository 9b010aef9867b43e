// Markdown as harmless markup. Loaded when a rendered view is asked for. Nothing in it leads anywhere or loads anything: links and
// pictures become text that says where they would lead. Markup that would be taken away is shown as it stands instead.

import createDOMPurify from "dompurify";
import { Marked } from "marked";
import { codeOf, runs, UNSEEN } from "./unseen.ts";

const TAGS = [
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "p",
  "ul",
  "ol",
  "li",
  "pre",
  "code",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "blockquote",
  "hr",
  "br",
  "em",
  "strong",
  "b",
  "i",
  "del",
  "a",
  "img",
  "sub",
  "sup",
  "dl",
  "dt",
  "dd",
  "kbd",
  "details",
  "summary",
];
const known = new Set(TAGS);

const escape = (text: string) => text.replace(/&/gu, "&amp;").replace(/</gu, "&lt;").replace(/>/gu, "&gt;");
/** Whether all of some markup is of tags that stay, without attributes that the browser reports even where nothing runs. */
const stays = (markup: string) =>
  Array.from(markup.matchAll(/<(\/?)([a-z!?][^\s>/]*)/giu)).every(([, , name]) => known.has(name!.toLowerCase()))
  && !/<!|<\?|[\s/"'](?:on[a-z]+|style)\s*=/iu.test(markup);

/** Attributes that the page's policy reports as soon as they are parsed. What is safe is decided after that. */
const FORBIDDEN = /\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/giu;

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text, block }) =>
      stays(text) ? text.replace(FORBIDDEN, "") : block ? `<pre>${escape(text)}</pre>` : escape(text),
  },
});
export const purify = createDOMPurify(window);

/**
 * A web page without what the page's policy reports as soon as it is parsed: scripts, styles, and attributes of both,
 * and where its addresses begin. */
export const withoutHandlers = (html: string): string =>
  html
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/giu, "")
    .replace(/<base\b[^>]*>/giu, "")
    .replace(/<[a-z][^>]*>/giu, (tag) => tag.replace(FORBIDDEN, ""));

export async function render(text: string): Promise<DocumentFragment> {
  const markup = await marked.parse(text, { async: true });
  const fragment = purify.sanitize(markup, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "src", "alt", "start", "align"],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  return harmless(fragment);
}

/** Makes text of what leads anywhere or loads anything, and shows what is not seen. */
export function harmless(fragment: DocumentFragment): DocumentFragment {
  for (const link of fragment.querySelectorAll("a"))
    link.replaceWith(inert(link.getAttribute("href"), ...link.childNodes));
  for (const picture of fragment.querySelectorAll("img")) {
    const src = picture.getAttribute("src") ?? "";
    picture.replaceWith(inert(src, `[${picture.getAttribute("alt") || src.split("/").at(-1) || "…"}]`));
  }
  const texts: Text[] = [];
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const node of texts)
    if (node.data.search(UNSEEN) >= 0)
      node.replaceWith(...runs(node.data).map(({ text, unseen }) => (unseen ? mark(text) : text)));
  return fragment;
}

function mark(code: string): HTMLElement {
  const span = document.createElement("span");
  span.className = "unseen";
  span.textContent = code;
  return span;
}

function inert(where: string | null, ...nodes: (Node | string)[]): HTMLElement {
  const span = document.createElement("span");
  span.className = "link";
  if (where) span.title = where.replace(UNSEEN, codeOf);
  span.append(...nodes);
  return span;
}
