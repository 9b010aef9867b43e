// Data of the API as state of a component.

import { Failure } from "./client.ts";

/** What a component shows of a request: the last data stay while new ones are on their way. */
export class Resource<T> {
  data = $state.raw<T>();
  failure = $state.raw<unknown>();
  loading = $state(true);
  #again = $state(0);
  reload = () => void (this.#again += 1);

  constructor(load: (signal: AbortSignal) => Promise<T>, clears: () => unknown) {
    let shown: unknown;
    $effect(() => {
      void this.#again;
      const now = clears();
      const control = new AbortController();
      if (now !== shown) this.data = undefined;
      shown = now;
      this.loading = true;
      load(control.signal).then(
        (data) => {
          if (control.signal.aborted) return;
          this.data = data;
          this.failure = undefined;
          this.loading = false;
        },
        (failure: unknown) => {
          if (control.signal.aborted) return;
          this.failure = failure;
          this.loading = false;
        },
      );
      return () => control.abort();
    });
  }
}

/**
 * Loads when the component begins, and again when state that `load` reads before its first `await` changes.
 * `clears` says what the data belong to: when that changes, old data are not shown meanwhile.
 */
export const resource = <T>(load: (signal: AbortSignal) => Promise<T>, clears: () => unknown = () => 0) =>
  new Resource(load, clears);

/** A page of a list: its items, and the cursor of the next page. */
export interface Page<T> {
  items: T[];
  next?: string | null | undefined;
}

/** A list that grows page by page. */
export class Pages<T> {
  items = $state.raw<T[]>([]);
  failure = $state.raw<unknown>();
  loading = $state(false);
  done = $state(false);
  // What `more` reads when it begins is no state, or an effect that calls it would begin it again.
  #busy = false;
  #ended = false;
  #cursor: string | undefined;
  #control = new AbortController();

  constructor(private readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>) {}

  /** Loads the next page. */
  more = async (): Promise<void> => {
    if (this.#busy || this.#ended) return;
    this.loading = this.#busy = true;
    const { signal } = this.#control;
    try {
      const page = await this.load(this.#cursor, signal);
      if (signal.aborted) return;
      this.items = this.items.concat(page.items);
      this.#cursor = page.next ?? undefined;
      this.done = this.#ended = this.#cursor === undefined;
      this.failure = undefined;
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    } finally {
      if (!signal.aborted) this.loading = this.#busy = false;
    }
  };

  /** Loads all pages that are left. */
  all = async (): Promise<void> => {
    while (!this.done && !this.failure) await this.more();
  };

  /** Begins anew. */
  reset = (): Promise<void> => {
    this.stop();
    this.#control = new AbortController();
    this.#cursor = undefined;
    this.loading = this.done = this.#busy = this.#ended = false;
    this.items = [];
    this.failure = undefined;
    return this.more();
  };

  stop = (): void => this.#control.abort();
}

/** A list that begins when the component does, and anew when state that `load` reads at once changes. */
export function pages<T>(load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>): Pages<T> {
  let list = $state.raw(new Pages(load));
  $effect(() => {
    const begun = new Pages(load);
    void begun.more();
    list = begun;
    return begun.stop;
  });
  return new Proxy({} as Pages<T>, { get: (_, name) => Reflect.get(list, name) as unknown });
}

export { Failure };
