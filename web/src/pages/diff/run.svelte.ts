// Compares a collection with what other settings would make of it; a comparison that another supersedes is aborted.

import { compare, type Comparison } from "../../api/compare.ts";

export class Run {
  answer = $state.raw<Comparison>();
  /** The settings that the answer is of. */
  of = $state.raw<Record<string, unknown>>();
  failure = $state.raw<unknown>();
  busy = $state(false);
  /** How much a job has done of it, from 0 to 1; none while it is answered at once. */
  share = $state<number>();
  took = $state(0);
  #control = new AbortController();
  #timer = 0;

  ask(collection: string, settings: Record<string, unknown>, pause: number): void {
    this.stop();
    this.busy = true;
    const control = (this.#control = new AbortController());
    const run = async () => {
      const at = performance.now();
      try {
        const answer = await compare(collection, { settings }, control.signal, (share) => {
          if (!control.signal.aborted) this.share = share;
        });
        if (control.signal.aborted) return;
        this.answer = answer;
        this.of = settings;
        this.failure = undefined;
        this.took = performance.now() - at;
      } catch (failure) {
        if (!control.signal.aborted) this.failure = failure;
      } finally {
        if (!control.signal.aborted) {
          this.busy = false;
          this.share = undefined;
        }
      }
    };
    this.#timer = window.setTimeout(() => void run(), pause);
  }
  stop = (): void => {
    clearTimeout(this.#timer);
    this.#control.abort();
    this.busy = false;
    this.share = undefined;
  };
}
