import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

/** Styles by their class, which is as short as can be: it stands in every style and in every element. */
const styles = new Map();
function cssHash({ css, hash }) {
  const name = (digits) => `_${hash(css).slice(-digits)}`;
  let digits = 3;
  while ((styles.get(name(digits)) ?? css) !== css) digits += 1;
  styles.set(name(digits), css);
  return name(digits);
}

/** @type {import("@sveltejs/vite-plugin-svelte").SvelteConfig} */
export default { preprocess: vitePreprocess(), compilerOptions: { runes: true, fragments: "tree", cssHash } };
