// Where the page is: a path and a query. Every state that is worth a link stands there.

import type { Component } from "svelte";
import { base } from "../base.ts";
import { routes, type Crumb, type Route } from "./routes.ts";

export interface Place {
  path: string;
  query: URLSearchParams;
}

/** What a page is given: the parts of its path. */
export type Params = Record<string, string>;
// A page may do without its parameters.
export type PageComponent = Component<{ params: Params }> | Component;

interface Shown {
  route: Route | null;
  params: Params;
  component: Component<{ params: Params }> | null;
  failure: unknown;
}

interface Entry {
  /** Where the page was scrolled to, and its list. */
  scroll: number;
  within?: number;
  key: number;
}

/** The path in the page, without what a proxy has it below. */
const inner = (path: string): string => (path.startsWith(`${base}/`) ? path.slice(base.length) : "/");

const read = (): Place => ({ path: inner(location.pathname), query: new URLSearchParams(location.search) });

let place = $state.raw(read());
let shown = $state.raw<Shown>({ route: null, params: {}, component: null, failure: undefined });
let crumbs = $state.raw<Crumb[]>([]);
let busy = $state(false);

export const router = {
  get path() {
    return place.path;
  },
  get query() {
    return place.query;
  },
  get shown() {
    return shown;
  },
  get busy() {
    return busy;
  },
  /** What the header shows of where the page is; the last is the title. */
  get crumbs() {
    return crumbs.length > 0 ? crumbs : (shown.route?.crumbs(shown.params) ?? []);
  },
};

/** A value of the query, or what it is without one. */
export const param = (name: string, absent = ""): string => place.query.get(name) ?? absent;

/** Changes values of the query; null and "" take one away. Replaces the place unless `push`. */
export function setParams(changes: Record<string, string | number | null | undefined>, push = false): void {
  const query = new URLSearchParams(place.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const search = query.toString();
  if (search === place.query.toString()) return;
  const url = base + place.path + (search && `?${search}`);
  if (push) {
    keepScroll();
    history.pushState({ scroll: 0, key: ++keys } satisfies Entry, "", url);
  } else later(url);
  place = { path: place.path, query };
}

// Browsers slow down whoever writes the address with every key: the first change is written
// at once, and those that follow it closely are written together.
let written: string | null = null;
let pause: ReturnType<typeof setTimeout> | undefined;
function later(url: string): void {
  written = url;
  if (pause === undefined) write();
}

/** Writes the address that is due. */
function write(): void {
  clearTimeout(pause);
  pause = undefined;
  if (written === null) return;
  history.replaceState(history.state, "", written);
  written = null;
  pause = setTimeout(write, 150);
}

/** An address in the page: parts of the path are escaped. A `/` stays, since proxies decode it, but where a browser would resolve it. */
export const href = (parts: TemplateStringsArray, ...values: (string | number)[]): string =>
  base + parts.reduce((out, part, at) => out + escaped(String(values[at - 1])) + part);

const escaped = (value: string): string =>
  /(?:^|\/)\.{0,2}(?:\/|$)/u.test(value) ? encodeURIComponent(value) : encodeURIComponent(value).replaceAll("%2F", "/");

/** Goes somewhere. */
export function go(url: string, replace = false): void {
  keepScroll();
  const entry: Entry = { scroll: 0, key: ++keys };
  if (replace) history.replaceState(entry, "", url);
  else history.pushState(entry, "", url);
  void arrive(true);
}

let keys = 0;
let arrivals = 0;

const pane = () => document.querySelector<HTMLElement>("#main");
/** The list of a page that scrolls by itself. */
const list = () => pane()?.querySelector<HTMLElement>("[data-scroll]");

function keepScroll(): void {
  write();
  const entry = history.state as Entry | null;
  const [scroll, within] = [pane(), list()].map((element) => element?.scrollTop ?? 0) as [number, number];
  history.replaceState({ key: entry?.key ?? 0, scroll, within } satisfies Entry, "");
}

function match(path: string): [Route, Params] | null {
  const parts = path.replace(/\/+$/u, "").split("/");
  for (const route of routes) {
    const names = route.path.replace(/\/+$/u, "").split("/");
    const last = names.length - 1;
    if (names.length !== parts.length && !(route.rest && parts.length > names.length)) continue;
    const params: Params = {};
    const fits = names.every((name, at) => {
      const part = at === last ? parts.slice(at).join("/") : (parts[at] ?? "");
      if (!name.startsWith(":")) return name === part;
      try {
        params[name.slice(1)] = decodeURIComponent(part);
      } catch {
        return false;
      }
      return part !== "";
    });
    if (fits) return [route, params];
  }
  return null;
}

/** Shows what stands at the address now. */
async function arrive(isNew: boolean): Promise<void> {
  const arrival = ++arrivals;
  const next = read();
  const found = match(next.path);
  const stays = found?.[0] === shown.route && shown.component;
  if (!found) {
    place = next;
    shown = { route: null, params: {}, component: null, failure: undefined };
    crumbs = [];
    return settle(isNew);
  }
  const [route, params] = found;
  busy = !stays;
  try {
    const component = stays ? shown.component : ((await route.load()).default as Component<{ params: Params }>);
    if (arrival !== arrivals) return;
    const moved = next.path !== place.path || !shown.component;
    place = next;
    if (moved) {
      crumbs = [];
      shown = { route, params, component, failure: undefined };
      settle(isNew);
    }
  } catch (failure) {
    if (arrival !== arrivals) return;
    place = next;
    shown = { route, params, component: null, failure };
  } finally {
    if (arrival === arrivals) busy = false;
  }
}

/** After another page was shown: focus on its heading, scroll where it was. */
function settle(isNew: boolean): void {
  const { scroll = 0, within = 0 } = (isNew ? null : (history.state as Entry | null)) ?? {};
  requestAnimationFrame(() => {
    const main = pane();
    if (!main) return;
    if (!main.contains(document.activeElement)) {
      const heading = main.querySelector<HTMLElement>("h1") ?? main;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
    let tries = 0;
    // What a page shows may come later than the page.
    const restore = () => {
      main.scrollTop = scroll;
      const long = list();
      if (long) long.scrollTop = within;
      const isThere = main.scrollTop >= scroll && (long?.scrollTop ?? 0) >= within;
      if (!isThere && (tries += 1) < 40) setTimeout(restore, 25);
    };
    restore();
  });
}

/** Says what the header shows instead of what the route says, such as names that were loaded. */
export function setCrumbs(list: Crumb[]): void {
  crumbs = list;
}

/** Takes links of the page over from the browser. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  if (
    !(link instanceof HTMLAnchorElement)
    || link.target
    || link.hasAttribute("download")
    || link.origin !== location.origin
    || !`${link.pathname}/`.startsWith(`${base}/`)
  )
    return;
  if (/^\/(?:api|mcp|compat|health|ready|metrics)(?:\/|$)/u.test(inner(link.pathname))) return;
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}

export function start(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    // A change of the page that was left is not written over the one that is shown again.
    written = null;
    void arrive(false);
  });
  document.addEventListener("click", follow);
  addEventListener("pagehide", keepScroll);
  void arrive(false);
}
