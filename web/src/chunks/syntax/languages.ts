// Which mode reads which language. Modes are loaded when a source needs them.

import type { Mode } from "./highlighter.ts";

type Load = () => Promise<unknown>;

const clike =
  (name: keyof typeof import("./clike.ts")): Load =>
  async () =>
    (await import("./clike.ts"))[name];
const script =
  (name: "javascript" | "typescript" | "json"): Load =>
  async () =>
    (await import("@codemirror/legacy-modes/mode/javascript"))[name];

const LOADERS: Record<string, Load> = {
  bash: async () => (await import("@codemirror/legacy-modes/mode/shell")).shell,
  c: clike("c"),
  cpp: clike("cpp"),
  csharp: clike("csharp"),
  java: clike("java"),
  kotlin: clike("kotlin"),
  scala: clike("scala"),
  dart: clike("dart"),
  "objective-c": clike("objectiveC"),
  solidity: clike("java"),
  php: clike("java"),
  groovy: clike("java"),
  javascript: script("javascript"),
  typescript: script("typescript"),
  json: script("json"),
  css: async () => (await import("@codemirror/legacy-modes/mode/css")).css,
  go: async () => (await import("@codemirror/legacy-modes/mode/go")).go,
  html: async () => (await import("@codemirror/legacy-modes/mode/xml")).html,
  xml: async () => (await import("@codemirror/legacy-modes/mode/xml")).xml,
  haskell: async () => (await import("@codemirror/legacy-modes/mode/haskell")).haskell,
  lua: async () => (await import("@codemirror/legacy-modes/mode/lua")).lua,
  perl: async () => (await import("@codemirror/legacy-modes/mode/perl")).perl,
  powershell: async () => (await import("@codemirror/legacy-modes/mode/powershell")).powerShell,
  protobuf: async () => (await import("@codemirror/legacy-modes/mode/protobuf")).protobuf,
  python: async () => (await import("@codemirror/legacy-modes/mode/python")).python,
  r: async () => (await import("@codemirror/legacy-modes/mode/r")).r,
  ruby: async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby,
  rust: async () => (await import("@codemirror/legacy-modes/mode/rust")).rust,
  sql: async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL,
  swift: async () => (await import("@codemirror/legacy-modes/mode/swift")).swift,
  toml: async () => (await import("@codemirror/legacy-modes/mode/toml")).toml,
  yaml: async () => (await import("@codemirror/legacy-modes/mode/yaml")).yaml,
};

/** Other names, as fences and extensions have them. */
const ALIASES: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  console: "bash",
  zsh: "bash",
  fish: "bash",
  h: "c",
  "c++": "cpp",
  cc: "cpp",
  hpp: "cpp",
  cs: "csharp",
  kt: "kotlin",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  ts: "typescript",
  tsx: "typescript",
  jsonl: "json",
  json5: "json",
  htm: "html",
  vue: "html",
  svelte: "html",
  astro: "html",
  svg: "xml",
  hs: "haskell",
  ps1: "powershell",
  proto: "protobuf",
  py: "python",
  rb: "ruby",
  rs: "rust",
  golang: "go",
  yml: "yaml",
  scss: "css",
  less: "css",
  make: "bash",
  makefile: "bash",
  dockerfile: "bash",
  md: "markdown",
  mdx: "markdown",
  markdown: "markdown",
  zig: "rust",
  elixir: "ruby",
  hcl: "toml",
  ini: "toml",
  graphql: "protobuf",
  postgresql: "sql",
  sqlite: "sql",
};

export function languageNamed(name: string | null | undefined): string | null {
  const known = name?.toLowerCase() ?? "";
  const language = ALIASES[known] ?? known;
  return language in LOADERS || language === "markdown" ? language : null;
}

/** The language of a document: what its chunks say, its format, or the extension of its id. */
export function languageOf(
  doc_id: string,
  format?: string,
  chunks: { language?: string | null | undefined }[] = [],
): string | null {
  const extension = /\.([^./]+)$/u.exec(doc_id)?.[1];
  return (
    languageNamed(format)
    ?? languageNamed(chunks.find(({ language }) => language)?.language)
    ?? languageNamed(extension)
  );
}

/** The mode of a language; for Markdown also those of its fences. */
export async function modeOf(language: string, source: string): Promise<Mode | null> {
  if (language !== "markdown") return ((await LOADERS[language]?.()) ?? null) as Mode | null;
  const named = new Set<string>();
  for (const [, info] of source.slice(0, 2_000_000).matchAll(/^ {0,3}(?:`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]+)/gmu)) {
    const name = languageNamed(info);
    if (name && name !== "markdown" && named.size < 8) named.add(name);
  }
  const { markdown } = await import("./markdown.ts");
  const fences = new Map<string, Mode>();
  await Promise.all(Array.from(named, async (name) => fences.set(name, (await LOADERS[name]!()) as Mode)));
  return markdown(fences);
}
