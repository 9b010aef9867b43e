import svelte from "eslint-plugin-svelte";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

export default defineConfig(
  { ignores: ["src/api/schema.d.ts"] },
  ts.configs.recommended,
  svelte.configs.recommended,
  {
    // Types are asked for where modules are: in components they double the time and find nothing that svelte-check does not.
    files: ["**/*.ts"],
    extends: [ts.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, extraFileExtensions: [".svelte"] } },
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: "test" }] },
      ],
    },
  },
  {
    files: ["**/*.svelte"],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: { "prefer-const": "off", "svelte/prefer-const": "error" },
  },
  {
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      // Unseen characters are written by their code.
      "svelte/no-useless-mustaches": ["error", { ignoreStringEscape: true }],
      // It takes what svelte-check warns of for unused.
      "svelte/no-unused-svelte-ignore": "off",
      // Maps and sets are replaced as a whole: their state is `$state.raw`.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
);
