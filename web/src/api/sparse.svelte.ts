// A long list of which only those pages are loaded that one looks at. It is as long as the whole list, so that its scroll bar stands for
// the whole. A page after one that is loaded is asked for by its cursor, another by how many entries are before it.

import { untrack } from "svelte";
import { order } from "./order.ts";

export interface Asked {
  limit: number;
  cursor?: string;
  skip?: number;
}
export interface Part<T> {
  items: T[];
  next?: string | null | undefined;
  /** How many entries the whole list has, where the server says so. */
  total?: number;
}

export class Sparse<T> {
  /** Number of entries of the whole list, as far as it is known. */
  length = $state(0);
  failure = $state.raw<unknown>();
  /** Number of entries that are loaded. */
  loaded = $state(0);
  /** Whether the first page is. */
  isBegun = $state(false);
  #pages = new Map<number, T[]>();
  #cursors = new Map<number, string>();
  #coming = new Map<number, Promise<void>>();
  #seen: [number, number] = [0, 0];
  #isLoading = false;
  /** Whether the end was reached, which says better than any count how long the list is. */
  #isEnded = false;
  #control = new AbortController();

  constructor(
    readonly size: number,
    private readonly ask: (asked: Asked, signal: AbortSignal) => Promise<Part<T>>,
  ) {}

  /** An entry, if it is loaded. */
  at(row: number): T | undefined {
    void this.loaded;
    return this.#pages.get(Math.floor(row / this.size))?.[row % this.size];
  }

  /** The entries that are loaded, with their rows. */
  *entries(): Generator<[number, T]> {
    void this.loaded;
    for (const [page, items] of this.#pages)
      for (const [at, item] of items.entries()) yield [page * this.size + at, item];
  }

  /** Says which rows are in sight. One page is asked for at a time: those that were passed by meanwhile are not. */
  look(first: number, last: number): void {
    this.#seen = [first, last];
    untrack(() => void this.#loadSeen());
  }

  /** Loads rows up to another. */
  async load(first: number, last: number): Promise<void> {
    for (let page = Math.floor(first / this.size); page * this.size <= last; page += 1) await this.#page(page);
  }

  /** How long the list is, as something else counted it. */
  expect(length: number): void {
    if (!this.#isEnded) this.length = Math.max(length, this.#reach());
  }

  /** The first row whose text is not before another: asks for one entry at a time, as often as the length can be halved. */
  async find(text: string, textOf: (item: T) => string): Promise<number> {
    let [low, high] = [0, this.length];
    const { signal } = this.#control;
    try {
      while (low < high) {
        const middle = (low + high) >> 1;
        const item = this.at(middle) ?? (await this.ask({ limit: 1, skip: middle }, signal)).items[0];
        if (item && order(textOf(item), text) < 0) low = middle + 1;
        else high = middle;
      }
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    }
    return low;
  }

  retry = (): void => {
    this.failure = undefined;
    void this.#loadSeen();
  };
  stop = (): void => this.#control.abort();

  async #loadSeen(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    for (let page = this.#missing(); page !== undefined; page = this.#missing()) await this.#page(page);
    this.#isLoading = false;
  }
  #missing(): number | undefined {
    if (this.failure || this.#control.signal.aborted) return undefined;
    const [first, last] = this.#seen;
    for (let page = Math.floor(first / this.size); page * this.size <= last; page += 1)
      if (!this.#pages.has(page) && (page === 0 || page * this.size < this.length)) return page;
    return undefined;
  }

  #page(page: number): Promise<void> {
    if (this.#pages.has(page)) return Promise.resolve();
    let coming = this.#coming.get(page);
    if (!coming) {
      coming = this.#fetch(page).finally(() => this.#coming.delete(page));
      this.#coming.set(page, coming);
    }
    return coming;
  }
  async #fetch(page: number): Promise<void> {
    const { signal } = this.#control;
    const [skip, cursor] = [page * this.size, this.#cursors.get(page)];
    try {
      const asked = { limit: this.size, ...(cursor ? { cursor } : skip > 0 && { skip }) };
      const { items, next, total } = await this.ask(asked, signal);
      if (signal.aborted) return;
      this.#pages.set(page, items);
      if (next) this.#cursors.set(page + 1, next);
      else this.#isEnded = true;
      const [known, end] = [total ?? this.length, skip + items.length];
      if (next) this.length = Math.max(known, end + 1);
      else this.length = items.length > 0 || page === 0 ? end : Math.min(known, skip);
      this.loaded += items.length;
      this.isBegun = true;
      this.failure = undefined;
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    }
  }
  /** Where the last page that is loaded ends. */
  #reach(): number {
    const last = Math.max(-1, ...this.#pages.keys());
    return last * this.size + (this.#pages.get(last)?.length ?? this.size);
  }
}
