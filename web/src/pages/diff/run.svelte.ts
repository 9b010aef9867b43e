// Compares a collection with what other settings would make of it; a comparison that another supersedes is aborted.

import { api, ok, type Schemas } from "../../api/client.ts";

export class Run {
  answer = $state.raw<Schemas["DiffAnswer"]>();
  /** The settings that the answer is of. */
  of = $state.raw<Record<string, unknown>>();
  failure = $state.raw<unknown>();
  busy = $state(false);
  took = $state(0);
  #control = new AbortController();
  #timer = 0;

  ask(collection: string, settings: Record<string, unknown>, pause: number): void {
    this.stop();
    this.busy = true;
    const control = (this.#control = new AbortController());
    this.#timer = window.setTimeout(async () => {
      const at = performance.now();
      try {
        const body = { settings };
        const answer = await ok(api.POST("/api/v1/collections/{collection}/diff", { params: { path: { collection } }, body: body as never, signal: control.signal }));
        if (control.signal.aborted) return;
        this.answer = answer;
        this.of = settings;
        this.failure = undefined;
        this.took = performance.now() - at;
      } catch (failure) {
        if (!control.signal.aborted) this.failure = failure;
      } finally {
        if (!control.signal.aborted) this.busy = false;
      }
    }, pause);
  }
  stop = (): void => {
    clearTimeout(this.#timer);
    this.#control.abort();
    this.busy = false;
  };
}
