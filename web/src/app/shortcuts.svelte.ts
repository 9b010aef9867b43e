// Keys that hold everywhere. A page adds its own with `shortcuts`; the last that knows a key gets it.

import { untrack } from "svelte";

export interface Shortcut {
  /** As `event.key` has it, or two keys in turn such as `g c`. With `Mod+` Ctrl or Command is held. */
  keys: string;
  /** What it does, for the list of shortcuts; none for what stands there already. */
  text?: string;
  run: (event: KeyboardEvent) => void;
}

let groups = $state.raw<Shortcut[][]>([]);
let first: { key: string; at: number } | null = null;

/** Shortcuts that pages added, for the list. */
export const added = (): Shortcut[] =>
  groups
    .slice(1)
    .flat()
    .filter(({ text }) => text);

/** Takes keys until what is answered is called; in a component: `$effect(() => shortcuts([...]))`. */
export function shortcuts(list: Shortcut[]): () => void {
  groups = [...untrack(() => groups), list];
  return () => (groups = groups.filter((group) => group !== list));
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement
  && (target.isContentEditable
    || target.matches("select, textarea, input:not([type=checkbox], [type=radio], [type=range])"));

/** Keys that move and press: what has the focus uses them itself. */
const MOVES = /^(?:Arrow(?:Up|Down|Left|Right)|Home|End|PageUp|PageDown|Enter| )$/u;
const isNowhere = (target: EventTarget | null) =>
  target === document.body || (target instanceof HTMLElement && target.matches("main, h1"));

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || (MOVES.test(event.key) && !isNowhere(event.target))) return;
  const mod = event.ctrlKey || event.metaKey;
  if (event.altKey || (!mod && isTyping(event.target)) || (!mod && document.querySelector("dialog[open]"))) return;
  const key = (mod ? "Mod+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const pair = first && event.timeStamp - first.at < 1200 ? `${first.key} ${key}` : null;
  const all = groups.toReversed().flat();
  const found = (pair && all.find(({ keys }) => keys === pair)) || all.find(({ keys }) => keys === key);
  first = found ? null : { key, at: event.timeStamp };
  if (!found) return;
  event.preventDefault();
  found.run(event);
}

export function listen(): () => void {
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
