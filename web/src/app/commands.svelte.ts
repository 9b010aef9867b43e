// What a page adds to the command palette while it is shown.

import { untrack } from "svelte";
import type { IconName } from "../ui/icons.ts";

export interface Command {
  text: string;
  icon: IconName;
  run: () => void;
}

let groups = $state.raw<(() => Command[])[]>([]);

export const commands = (): Command[] => groups.flatMap((group) => group());

/** Adds commands until what is answered is called; in a component: `$effect(() => addCommands(() => [...]))`. */
export function addCommands(list: () => Command[]): () => void {
  groups = [...untrack(() => groups), list];
  return () => (groups = groups.filter((group) => group !== list));
}
