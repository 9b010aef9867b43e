import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// Two things are built of the same components: the app that the server answers with, and the parts of the file that
// `chunkwright chunk --format html` writes (one style, one script, without imports).
const dist = "../crates/chunkwright-engine/dist";
const server = process.env["CHUNKWRIGHT_URL"] ?? "http://127.0.0.1:7878";

/** Makes a script and a style that can stand in an element of a page: nothing in them ends it, and nothing is unseen. */
const inlineable: Plugin = {
  name: "inlineable",
  generateBundle(_, bundle) {
    const escape = (text: string) =>
      text
        .replace(/<(?=[/!]|script)/giu, "\\x3c")
        .replace(
          /[\u007f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
          (c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, "0")}`,
        );
    for (const part of Object.values(bundle)) if (part.type === "chunk") part.code = escape(part.code);
  },
};

/** Of the messages the file has those it shows: not those of pages of the app. */
const KEPT = ["app", "chunks"];
const ownMessages: Plugin = {
  name: "own-messages",
  enforce: "pre",
  transform(code, id) {
    const [, part] = /\/src\/i18n\/\w+\/(\w+)\.ts$/u.exec(id) ?? [];
    if (part)
      return KEPT.includes(part) ? null : code.replace(/^[\s\S]*(export const \w+ =)[\s\S]*$/u, "$1 () => undefined;");
    const used = Array.from(code.matchAll(/\bt\(\)\.(\w+)/gu), ([, name]) => name!);
    const missing = id.includes("/src/") && used.find((name) => !KEPT.includes(name));
    return missing ? this.error(`the file has no messages of \`${missing}\`; add it to KEPT in vite.config.ts`) : null;
  },
};

/** Modes make those of all dialects when they are loaded: of these stay those that are used. */
const onlyUsedModes: Plugin = {
  name: "only-used-modes",
  transform: (code, id) =>
    id.includes("/@codemirror/legacy-modes/")
      ? code.replace(/(?<![.\w$])(?<!function )(?:sql|set|clike|words|mk\w+|keySet)\(/gu, "/* @__PURE__ */ $&")
      : null,
};

/**
 * Files of what pages share: what is needed at once is one, and of the rest what the same pages need, in files of some size. A file
 * for each module would be 65 requests before a collection is seen.
 */
const shared = [
  { name: "app", tags: ["$initial" as const], priority: 1 },
  { name: "shared", test: /\/src\//u, minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8_000 },
];
/** A file's name without those of all pages that share it. */
const short = (name = "shared") => name.replace(/~[^.]*/u, "");

export default defineConfig(({ mode }) => {
  const file = mode === "file";
  const proxy = { target: server, changeOrigin: true, headers: { origin: server } };
  return {
    // The page may be below a path that only its server knows, which names its parts from there.
    base: file ? "/" : "./",
    plugins: [svelte(), onlyUsedModes, ...(file ? [ownMessages, inlineable] : [])],
    server: { proxy: { "/api": proxy, "/health": proxy, "/mcp": proxy } },
    preview: { proxy: { "/api": proxy, "/health": proxy, "/mcp": proxy } },
    build: {
      outDir: file ? `${dist}/file` : `${dist}/app`,
      emptyOutDir: true,
      // Where `light-dark()` is known.
      target: ["chrome123", "firefox120", "safari17.5"],
      modulePreload: file ? false : { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      cssCodeSplit: !file,
      rolldownOptions: file
        ? {
            input: "src/file/main.ts",
            output: {
              format: "iife",
              codeSplitting: false,
              entryFileNames: "page.js",
              assetFileNames: "page[extname]",
            },
          }
        : {
            output: {
              codeSplitting: { groups: shared },
              chunkFileNames: ({ name }) => `assets/${short(name)}-[hash].js`,
              assetFileNames: ({ names }) => `assets/${short(names[0]).replace(/\.\w+$/u, "")}-[hash][extname]`,
            },
          },
    },
  };
});
