"use strict";
// Shows what the scripts of type application/json hold: the settings, then one document each. Contents
// and names are never markup: they only become text of elements.

const CUTS = {
  document: "the document begins here",
  heading: "a heading's section begins here",
  symbol: "a symbol of source code begins here",
  merged: "small sections were joined; the first begins here",
  full: "the chunk before was full",
  window: "a window of a fixed size begins here",
};
const LEVELS = ["normal", "warning", "large", "oversized"];
// Characters that change what is seen without being seen. The joiners stay: scripts and emoji need them.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const count = (n, noun) => `${number.format(n)} ${noun}${n === 1 ? "" : "s"}`;

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Puts text into an element; what cannot be seen is shown by its code. */
function show(element, text) {
  text = text.replaceAll("\r\n", "\n");
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    element.append(text.slice(at, match.index), make("span", "mark", `U+${code}`));
    if (match[0] === "\r") element.append("\n");
    at = match.index + match[0].length;
  }
  element.append(text.slice(at));
  return element;
}

/** One line of text, shortened. */
function line(text, length) {
  const short = text.slice(0, 4 * length).replace(/\s+/gu, " ").trim();
  const points = Array.from(short);
  return points.length > length ? points.slice(0, length - 1).join("") + "…" : short;
}

// ---- The data ----

const settings = JSON.parse($("settings").textContent);
const inTokens = settings.config.unit !== "chars";
const sizeOf = (chunk) => (inTokens ? chunk.token_count : chunk.char_count);
const unit = inTokens ? "token" : "character";
const limit = settings.config.max_size;

const documents = Array.from(document.querySelectorAll("script.document"), (script, index) => {
  const data = JSON.parse(script.textContent);
  // What all chunks of a document have in common stands in it once.
  const chunks = data.chunks.map((chunk, at) => ({ ...data.common, ...chunk, at, document: index, size: 0 }));
  for (const chunk of chunks) chunk.size = sizeOf(chunk);
  script.remove();
  return { id: data.doc_id, gaps: data.gaps, chunks, matching: chunks.length };
});
const all = documents.flatMap((document) => document.chunks);

// Browsers lay out what is seen, and ask of each group, not of each element, whether it is.
const GROUP = 50;

// ---- What is chosen ----

const filter = { query: "", cut: "", levels: new Set(), bins: null };
let current = 0;
let chosen = -1; // Position in the document shown.
let visible = []; // Chunks of the document shown that pass the filter.

const isFiltered = () => filter.query || filter.cut || filter.levels.size || filter.bins;

function haystack(chunk) {
  chunk.haystack ??= [documents[chunk.document].id, chunk.chunk_id, chunk.section_path.join(" > "), chunk.context, chunk.content]
    .join("\n")
    .toLowerCase();
  return chunk.haystack;
}

function passes(chunk) {
  if (filter.cut && chunk.cut !== filter.cut) return false;
  if (filter.levels.size && !filter.levels.has(chunk.token_level)) return false;
  if (filter.bins) {
    const bin = binOf(chunk.size);
    if (bin < filter.bins[0] || bin > filter.bins[1]) return false;
  }
  return !filter.query || haystack(chunk).includes(filter.query);
}

function applyFilter() {
  for (const document of documents) {
    document.matching = 0;
    for (const chunk of document.chunks) {
      chunk.in = passes(chunk);
      if (chunk.in) document.matching += 1;
    }
  }
  $("clear").disabled = !isFiltered();
  for (const [level, button] of levelButtons) button.setAttribute("aria-pressed", filter.levels.has(level));
  binButtons.forEach((button, bin) => {
    button.setAttribute("aria-pressed", Boolean(filter.bins) && bin >= filter.bins[0] && bin <= filter.bins[1]);
  });
  documentButtons.forEach(({ note }, index) => (note.textContent = documentNote(documents[index])));
  $("axis").textContent = axisNote();
  showChunks();
}

function documentNote({ chunks, matching }) {
  return isFiltered() ? `${number.format(matching)} of ${count(chunks.length, "chunk")}` : count(chunks.length, "chunk");
}

// ---- Sizes of the whole scope ----

const largest = all.reduce((most, chunk) => Math.max(most, chunk.size), 0);
// What is far over the limit shares the last bin, or it would flatten the rest.
const most = Math.max(1, Math.min(largest, Math.ceil(limit * 1.25)));
const binSize = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100].find((width) => most / width <= 28) ?? Math.ceil(most / 28);
const binCount = Math.floor(most / binSize) + 1;
const binOf = (size) => Math.min(binCount - 1, Math.floor(size / binSize));
const binName = (bin) =>
  bin === binCount - 1 && largest >= binCount * binSize
    ? `${number.format(bin * binSize)} and more`
    : binSize === 1 ? String(bin) : `${number.format(bin * binSize)} to ${number.format((bin + 1) * binSize - 1)}`;

const perBin = new Array(binCount).fill(0);
for (const chunk of all) perBin[binOf(chunk.size)] += 1;
const tallest = perBin.reduce((most, n) => Math.max(most, n), 1);

const binButtons = perBin.map((n, bin) => {
  const button = make("button", bin * binSize > limit ? "over" : "");
  button.type = "button";
  button.style.setProperty("--share", `${n === 0 ? 0 : Math.max(4, (100 * n) / tallest)}%`);
  const name = `${binName(bin)} ${unit}s: ${count(n, "chunk")}`;
  button.setAttribute("aria-label", name);
  button.title = name;
  $("bins").append(button);
  return button;
});

function axisNote() {
  if (all.length === 0) return "";
  if (filter.bins) {
    const [from, to] = filter.bins;
    const matching = perBin.slice(from, to + 1).reduce((sum, n) => sum + n, 0);
    const range = from === to ? binName(from) : `${binName(from).split(" ")[0]} to ${binName(to).replace(/^.* to /, "")}`;
    return `${range} ${unit}s: ${count(matching, "chunk")}`;
  }
  const sum = all.reduce((total, chunk) => total + chunk.size, 0);
  return `limit ${number.format(limit)}, mean ${number.format(Math.round(sum / all.length))}, largest ${number.format(largest)}`;
}

let brush = null;
function brushTo(bin) {
  filter.bins = [Math.min(brush, bin), Math.max(brush, bin)];
  applyFilter();
}
const binAt = (event) => {
  const box = $("bins").getBoundingClientRect();
  return Math.max(0, Math.min(binCount - 1, Math.floor(((event.clientX - box.left) / box.width) * binCount)));
};
$("bins").addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const bin = binAt(event);
  const again = filter.bins && filter.bins[0] === bin && filter.bins[1] === bin;
  brush = event.shiftKey && filter.bins ? filter.bins[0] : bin;
  if (again) {
    filter.bins = null;
    brush = null;
    applyFilter();
  } else brushTo(bin);
  $("bins").setPointerCapture(event.pointerId);
});
$("bins").addEventListener("pointermove", (event) => {
  if (brush === null || event.buttons === 0) return;
  const bin = binAt(event);
  if (filter.bins && Math.min(brush, bin) === filter.bins[0] && Math.max(brush, bin) === filter.bins[1]) return;
  brushTo(bin);
});
$("bins").addEventListener("pointerup", () => (brush = null));
$("bins").addEventListener("pointercancel", () => (brush = null));
binButtons.forEach((button, bin) => {
  button.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      const again = filter.bins && filter.bins[0] === bin && filter.bins[1] === bin;
      filter.bins = again ? null : [bin, bin];
      applyFilter();
    } else if (step && binButtons[bin + step]) {
      binButtons[bin + step].focus();
      if (event.shiftKey && filter.bins) {
        filter.bins = [Math.min(filter.bins[0], bin + step), Math.max(filter.bins[1], bin + step)];
        applyFilter();
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
});

const levelButtons = LEVELS.map((level) => {
  const n = all.reduce((sum, chunk) => sum + (chunk.token_level === level), 0);
  const button = make("button", "", `${level} ${number.format(n)}`);
  button.type = "button";
  button.disabled = n === 0;
  button.addEventListener("click", () => {
    if (!filter.levels.delete(level)) filter.levels.add(level);
    applyFilter();
  });
  $("levels").append(button);
  return [level, button];
});

// ---- Documents ----

const documentButtons = documents.map((data, index) => {
  const button = make("button");
  button.type = "button";
  show(button.appendChild(make("bdi")), data.id);
  const note = button.appendChild(make("span", "quiet"));
  button.addEventListener("click", () => open(index));
  if (index % GROUP === 0) {
    const group = $("documents").appendChild(make("div", "group"));
    group.style.containIntrinsicSize = `auto ${48 * Math.min(GROUP, documents.length - index)}px`;
  }
  $("documents").lastElementChild.append(button);
  return { button, note };
});

/** Shows a document, and chooses one of its chunks. */
function open(index, at = -1) {
  if (!documents[index]) return;
  current = index;
  chosen = -1;
  documentButtons.forEach(({ button }, other) => button.setAttribute("aria-current", other === index));
  documentButtons[index].button.scrollIntoView({ block: "nearest" });
  showSource();
  showChunks();
  $("source").scrollTop = 0;
  if (at >= 0) choose(at);
}

// ---- Elements by the thousand: some at once, the rest when the browser has time ----

const BATCH = 300;
let pieces = [];
let cards = [];
let filling = 0;

/** What makes the next batch of elements, one for each item, until there is one at a position. */
function filler(parent, made, items, build, height) {
  return (position = 0) => {
    const batch = document.createDocumentFragment();
    const stop = Math.min(items.length, Math.max(position + 1, made.length + BATCH));
    while (made.length < stop) {
      const group = batch.appendChild(make("div", "group"));
      group.setAttribute("role", "presentation");
      const end = Math.min(items.length, made.length + GROUP);
      let pixels = 0;
      while (made.length < end) {
        pixels += height(items[made.length]);
        made.push(build(items[made.length], made.length, group));
      }
      group.style.containIntrinsicSize = `auto ${Math.round(pixels)}px`;
    }
    parent.append(batch);
  };
}

let moreSource = () => {};
let moreCards = () => {};

function later() {
  clearTimeout(filling);
  const chunks = documents[current]?.chunks.length ?? 0;
  if (pieces.length >= chunks && cards.length >= visible.length) return;
  filling = setTimeout(() => {
    if (pieces.length < chunks) moreSource();
    if (cards.length < visible.length) moreCards();
    later();
  });
}

function showSource() {
  const { id, gaps, chunks } = documents[current];
  $("source").replaceChildren();
  $("source").setAttribute("aria-label", `Source of ${id}`);
  pieces = [];
  if (chunks.length === 0) $("source").append(make("p", "empty", "This document has no visible character, so it has no chunk."));
  const build = (chunk, at, group) => {
    if (gaps[at].length > 1) group.append(show(make("div", "gap"), gaps[at].replace(/\r?\n$/u, "")));
    const piece = show(make("div", `piece c${at % 4}`), chunk.content);
    piece.dataset.name = `#${chunk.chunk_index}\nL${chunk.start_line}`;
    piece.classList.toggle("out", chunk.in === false);
    piece.addEventListener("click", () => choose(at, "list"));
    group.append(piece);
    return piece;
  };
  const height = (chunk) => 20 * (chunk.end_line - chunk.start_line + 1.5 + chunk.content.length / 90);
  moreSource = filler($("source"), pieces, chunks, build, height);
  moreSource();
}

function showChunks() {
  const data = documents[current];
  $("list").replaceChildren();
  $("list").removeAttribute("aria-activedescendant");
  cards = [];
  visible = data ? data.chunks.filter((chunk) => chunk.in !== false) : [];
  pieces.forEach((piece, at) => piece.classList.toggle("out", data.chunks[at].in === false));
  $("state").textContent = stateNote();
  moreCards = filler($("list"), cards, visible, card, () => 88);
  moreCards();
  if (chosen >= 0) choose(chosen, "stay");
  else $("detail").replaceChildren();
  later();
}

function stateNote() {
  if (!documents.length) return "";
  const { chunks } = documents[current];
  if (!isFiltered()) return `${count(chunks.length, "chunk")} of this document`;
  const everywhere = documents.reduce((sum, document) => sum + document.matching, 0);
  return `${number.format(visible.length)} of ${count(chunks.length, "chunk")} of this document, ${number.format(everywhere)} of ${number.format(all.length)} in all`;
}

function card(chunk, _, group) {
  const card = make("div", `card c${chunk.at % 4}`);
  group.append(card);
  card.id = `card-${chunk.at}`;
  card.setAttribute("role", "option");
  card.setAttribute("aria-selected", "false");
  const first = card.appendChild(make("div", "first"));
  first.append(make("strong", "", `#${chunk.chunk_index}`));
  first.append(make("span", "quiet", `lines ${chunk.start_line}–${chunk.end_line}`));
  const cut = first.appendChild(make("span", "tag", chunk.cut));
  cut.title = cutNote(chunk.cut);
  first.append(make("span", "tag", chunk.content_type));
  if (chunk.part) first.append(make("span", "tag", `part ${chunk.part.index + 1} of ${chunk.part.total}`));
  if (chunk.context) first.append(make("span", "tag", "borrows"));
  if (chunk.token_level !== "normal") first.append(make("span", "tag warn", chunk.token_level));
  if (chunk.oversize) first.append(make("span", "tag warn", "oversize"));
  const size = first.appendChild(make("span", "size"));
  const bar = size.appendChild(make("span", chunk.size > limit ? "bar over" : "bar"));
  bar.setAttribute("aria-hidden", "true");
  bar.appendChild(make("i")).style.width = `${Math.min(100, (100 * chunk.size) / limit)}%`;
  size.append(make("span", "quiet", `${number.format(chunk.size)} of ${count(limit, unit)}`));
  if (chunk.section_path.length) show(card.appendChild(make("div", "path")), line(chunk.section_path.join(" > "), 120));
  show(card.appendChild(make("div", "start")), line(chunk.content, 120));
  card.addEventListener("click", () => choose(chunk.at, "source"));
  return card;
}

function cutNote(cut) {
  return CUTS[cut] ?? (cut.startsWith("split:") ? `a block too large for one chunk is divided here: ${cut.slice(6).replaceAll("_", " ")}` : cut);
}

/** Chooses the chunk at a position of the document shown; `where` says what is scrolled to it. */
function choose(at, where = "both") {
  const chunk = documents[current]?.chunks[at];
  if (!chunk) return;
  if (pieces.length <= at) moreSource(at);
  pieces[chosen]?.classList.remove("chosen");
  $(`card-${chosen}`)?.setAttribute("aria-selected", "false");
  chosen = at;
  pieces[at].classList.add("chosen");
  // First: it takes room from the list that is scrolled next.
  showDetail(chunk);
  const position = visible.indexOf(chunk);
  if (position >= 0) {
    if (cards.length <= position) moreCards(position);
    cards[position].setAttribute("aria-selected", "true");
    $("list").setAttribute("aria-activedescendant", cards[position].id);
    if (where !== "source") cards[position].scrollIntoView({ block: "nearest" });
  }
  if (where !== "list" && where !== "stay") toPiece(pieces[at]);
  if (where !== "stay") history.replaceState(null, "", `#${chunk.chunk_id}`);
}

function toPiece(piece) {
  const pane = $("source");
  piece.scrollIntoView({ block: pane.clientHeight > piece.offsetHeight ? "center" : "start" });
}

function showDetail(chunk) {
  const detail = $("detail");
  detail.replaceChildren();
  detail.append(make("h2", "", `Chunk #${chunk.chunk_index}`));
  const facts = detail.appendChild(make("dl"));
  const fact = (name, value) => {
    if (value === undefined || value === null || value === "") return;
    facts.append(make("dt", "", name));
    show(facts.appendChild(make("dd")), String(value));
  };
  fact("cut", `${chunk.cut}: ${cutNote(chunk.cut)}`);
  fact("size", `${count(chunk.token_count, "token")} (${chunk.tokenizer}), ${count(chunk.char_count, "character")}, ${count(chunk.word_count, "word")}; limit ${count(limit, unit)}`);
  fact("path", chunk.section_path.join(" > "));
  fact("stands at", `lines ${chunk.start_line}–${chunk.end_line}, bytes ${chunk.start_byte}–${chunk.end_byte}`);
  fact("kind", [chunk.content_type, chunk.chunk_type, chunk.category, chunk.language].filter(Boolean).join(", "));
  fact("level", chunk.token_level + (chunk.oversize ? ", oversize: a block is kept whole" : ""));
  fact("part", chunk.part && `${chunk.part.index + 1} of ${chunk.part.total}`);
  fact("parent", chunk.parent);
  fact("id", chunk.chunk_id);
  fact("cut by", `${chunk.preset}, ${chunk.strategy_version}, ${chunk.config_hash}`);
  const text = (title, className, value) => {
    detail.append(make("h3", "", title));
    show(detail.appendChild(make("pre", `text ${className}`)), value);
  };
  if (chunk.context) text("Borrowed: embedded with it, not part of it", "borrowed", chunk.context);
  text("Owned", "owned", chunk.content);
  if (chunk.tail) text("What closes it: borrowed too", "borrowed", chunk.tail);
  if (chunk.text !== undefined) text("What is embedded: the text as it reads", "", chunk.text);
  detail.scrollTop = 0;
}

// ---- Keys and controls ----

function step(by) {
  if (!visible.length) return;
  const position = visible.findIndex((chunk) => chunk.at >= chosen);
  const exact = position >= 0 && visible[position].at === chosen;
  let next;
  if (chosen < 0) next = by > 0 ? 0 : visible.length - 1;
  else if (exact) next = position + by;
  else if (position < 0) next = visible.length - 1;
  else next = by > 0 ? position : position - 1;
  choose(visible[Math.max(0, Math.min(visible.length - 1, next))].at);
}

function clearFilter() {
  Object.assign(filter, { query: "", cut: "", bins: null });
  filter.levels.clear();
  $("search").value = "";
  $("cut").value = "";
  applyFilter();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    clearFilter();
    if (event.target === $("search")) $("list").focus();
    return;
  }
  const focus = event.target;
  if (focus.matches("input, select")) return;
  // Scrolling keys belong to the pane that has the focus, unless that is the list.
  const scrolls = focus === $("source") || focus === $("detail");
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    "]": () => open(Math.min(documents.length - 1, current + 1)),
    "[": () => open(Math.max(0, current - 1)),
    "/": () => $("search").focus(),
  };
  if (!scrolls && !focus.matches("button, summary")) {
    keys.ArrowDown = keys.j;
    keys.ArrowUp = keys.k;
    keys.Home = () => visible.length && choose(visible[0].at);
    keys.End = () => visible.length && choose(visible[visible.length - 1].at);
  }
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

let waiting = 0;
$("search").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    filter.query = $("search").value.trim().toLowerCase();
    applyFilter();
  }, 150);
});
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
$("clear").addEventListener("click", clearFilter);
$("theme").addEventListener("click", () => {
  const root = document.documentElement.style;
  const dark = root.colorScheme ? root.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.colorScheme = dark ? "light" : "dark";
});

const perCut = new Map();
for (const chunk of all) perCut.set(chunk.cut, (perCut.get(chunk.cut) ?? 0) + 1);
$("cut").append(new Option("every cut", ""));
for (const [cut, n] of Array.from(perCut).sort()) $("cut").append(new Option(`${cut} (${number.format(n)})`, cut));
$("cut").addEventListener("change", () => {
  filter.cut = $("cut").value;
  applyFilter();
});

// ---- Begin ----

const tokens = all.reduce((sum, chunk) => sum + chunk.token_count, 0);
show($("summary"), `${count(all.length, "chunk")} of ${count(documents.length, "document")}, ${count(tokens, "token")} (${settings.tokenizer}), preset ${settings.preset}, ${settings.strategy_version}`);
document.title = documents.length === 1 ? `Chunks of ${documents[0].id.replace(UNSEEN, "\ufffd")}` : `Chunks of ${documents.length} documents`;
document.querySelector("#sizes .quiet").textContent = `${unit}s of each chunk's text, all documents`;
document.querySelector("main").classList.toggle("many", documents.length > 1);

const wanted = location.hash.slice(1);
const linked = all.find((chunk) => chunk.chunk_id === wanted);
if (documents.length === 0) $("source").append(make("p", "empty", "No document was found at the paths given."));
else open(linked?.document ?? 0, linked?.at ?? -1);
applyFilter();
