// Asks for a preview at every change, and answers with the last: a request that another supersedes is aborted.

import { tick } from "svelte";
import { api, ok, type Schemas } from "../../api/client.ts";
import type { Chunk } from "../../chunks/types.ts";
import type { Sent } from "./source.ts";

export interface Preview {
  chunks: Chunk[];
  statistics: Schemas["DocumentStatistics"];
  notices: Schemas["Notice"][];
  /** The settings and document that it is of. */
  sent: Sent;
}

/** Changes that come faster than this wait for the next: what a key or a slider does in one gesture. */
const PAUSE = 25;

export async function preview(sent: Sent, settings: Record<string, unknown>, signal: AbortSignal): Promise<Preview> {
  const body = { ...sent, settings };
  const answer = await ok(api.POST("/api/v1/preview", { body: body as never, signal }));
  return { chunks: answer.chunks, statistics: answer.statistics, notices: answer.notices ?? [], sent };
}

export class Live {
  shown = $state.raw<Preview>();
  failure = $state.raw<unknown>();
  busy = $state(false);
  /** Milliseconds from the last change until the page showed what it does. */
  took = $state(0);
  #control = new AbortController();
  #timer = 0;
  #last = -1000;

  ask(sent: Sent, settings: Record<string, unknown>): void {
    const at = performance.now();
    this.stop();
    this.busy = true;
    const control = (this.#control = new AbortController());
    const run = async () => {
      try {
        const answer = await preview(sent, settings, control.signal);
        if (control.signal.aborted) return;
        this.shown = answer;
        this.failure = undefined;
        await tick();
        this.took = performance.now() - at;
        performance.clearMeasures("preview");
        performance.measure("preview", { start: at });
      } catch (failure) {
        if (!control.signal.aborted) this.failure = failure;
      } finally {
        if (!control.signal.aborted) this.busy = false;
      }
    };
    if (at - this.#last > 4 * PAUSE) void run();
    else this.#timer = window.setTimeout(() => void run(), PAUSE);
    this.#last = at;
  }
  stop = (): void => {
    clearTimeout(this.#timer);
    this.#control.abort();
  };
  /** Forgets what it shows, of another document. */
  clear(): void {
    this.stop();
    this.shown = undefined;
    this.failure = undefined;
  }
}
