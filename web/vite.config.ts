import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Two things are built of the same components: the app that the server answers with, and the parts of the file that
// `chunkwright chunk --format html` writes (one style, one script, without imports).
const dist = "../crates/chunkwright-page/dist";
const server = process.env["CHUNKWRIGHT_URL"] ?? "http://127.0.0.1:7878";

export default defineConfig(({ mode }) => {
  const file = mode === "file";
  const proxy = { target: server, changeOrigin: true, headers: { origin: server } };
  return {
    plugins: [svelte()],
    server: { proxy: { "/api": proxy, "/health": proxy } },
    preview: { proxy: { "/api": proxy, "/health": proxy } },
    build: {
      outDir: file ? `${dist}/file` : `${dist}/app`,
      emptyOutDir: true,
      // Where `light-dark()` is known.
      target: ["chrome123", "firefox120", "safari17.5"],
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      cssCodeSplit: !file,
      ...(file && {
        rolldownOptions: {
          input: "src/file/main.ts",
          output: {
            format: "iife" as const,
            codeSplitting: false,
            entryFileNames: "page.js",
            assetFileNames: "page[extname]",
          },
        },
      }),
    },
  };
});
