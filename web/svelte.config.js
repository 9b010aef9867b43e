import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

/** Styles by their class, which is short: it stands in every style and in every element. */
const styles = new Map();
function cssHash({ css, hash }) {
  const name = `s-${hash(css).slice(0, 4)}`;
  if ((styles.get(name) ?? css) !== css) throw new Error(`two styles have the class ${name}: let it be one digit longer`);
  styles.set(name, css);
  return name;
}

/** @type {import("@sveltejs/vite-plugin-svelte").SvelteConfig} */
export default { preprocess: vitePreprocess(), compilerOptions: { runes: true, fragments: "tree", cssHash } };
