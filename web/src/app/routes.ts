// Every page: its path, what the header says of it, and where its code is. A new page is a line here and a folder in pages/.

import { base } from "../base.ts";
import { t } from "../i18n/index.svelte.ts";
import { href, type PageComponent, type Params } from "./router.svelte.ts";

export interface Crumb {
  text: string;
  href?: string;
}

export type NavName = "collections" | "search" | "try" | "jobs" | "log" | "connect";

export interface Route {
  /** Parts that begin with `:` are parameters. */
  path: string;
  /** Whether the last parameter is all that is left of the path. */
  rest?: true;
  /** Under which entry of the navigation it stands. */
  nav: NavName;
  crumbs: (params: Params) => Crumb[];
  load: () => Promise<{ default: PageComponent }>;
}

const collections = (): Crumb => ({ text: t().app.nav.collections, href: href`/` });

export const routes: Route[] = [
  {
    path: "/",
    nav: "collections",
    crumbs: () => [collections()],
    load: () => import("../pages/collections/Collections.svelte"),
  },
  {
    path: "/c/:collection",
    nav: "collections",
    crumbs: ({ collection = "" }) => [collections(), { text: collection }],
    load: () => import("../pages/collection/Collection.svelte"),
  },
  {
    path: "/upload",
    nav: "collections",
    crumbs: () => [collections(), { text: t().upload.title }],
    load: () => import("../pages/upload/Upload.svelte"),
  },
  {
    path: "/jobs",
    nav: "jobs",
    crumbs: () => [{ text: t().app.nav.jobs }],
    load: () => import("../pages/jobs/Jobs.svelte"),
  },
  { path: "/log", nav: "log", crumbs: () => [{ text: t().log.title }], load: () => import("../pages/log/Log.svelte") },
  {
    path: "/connect",
    nav: "connect",
    crumbs: () => [{ text: t().connect.title }],
    load: () => import("../pages/connect/Connect.svelte"),
  },
  {
    path: "/c/:collection/d/:doc_id",
    rest: true,
    nav: "collections",
    crumbs: ({ collection = "", doc_id = "" }) => [
      collections(),
      { text: collection, href: href`/c/${collection}` },
      { text: doc_id },
    ],
    load: () => import("../pages/document/Document.svelte"),
  },
  {
    path: "/c/:collection/k/:chunk",
    nav: "collections",
    crumbs: ({ collection = "", chunk = "" }) => [
      collections(),
      { text: collection, href: href`/c/${collection}` },
      { text: chunk },
    ],
    load: () => import("../pages/chunk/Chunk.svelte"),
  },
  {
    path: "/c/:collection/diff",
    nav: "collections",
    crumbs: ({ collection = "" }) => [
      collections(),
      { text: collection, href: href`/c/${collection}` },
      { text: t().diff.crumb },
    ],
    load: () => import("../pages/diff/Diff.svelte"),
  },
  {
    path: "/try",
    nav: "try",
    crumbs: () => [{ text: t().app.nav.try }],
    load: () => import("../pages/try/Try.svelte"),
  },
  {
    path: "/search",
    nav: "search",
    crumbs: () => [{ text: t().app.nav.search }],
    load: () => import("../pages/search/Search.svelte"),
  },
];

/** Entries of the navigation whose page is there, with their key after `g`. */
export const navigation: { name: NavName; href: string; key: string }[] = (
  [
    { name: "collections", href: "/", key: "c" },
    { name: "search", href: "/search", key: "s" },
    { name: "try", href: "/try", key: "t" },
    { name: "jobs", href: "/jobs", key: "j" },
    { name: "log", href: "/log", key: "l" },
    { name: "connect", href: "/connect", key: "a" },
  ] as const
)
  .filter((entry) => routes.some(({ path }) => path === entry.href))
  .map((entry) => ({ ...entry, href: base + entry.href }));
