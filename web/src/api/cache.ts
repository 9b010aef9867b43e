// Values that were loaded a short time ago, by key. Each is about one collection or about all of them, and goes when that changes.

interface Entry<T> {
  collection: string;
  /** When it was asked for, in milliseconds. */
  at: number;
  bytes: number;
  answer: Promise<T>;
  /** How many wait for it, and what ends the request when none do any more. */
  waiting: number;
  control: AbortController;
}

export interface Bounds {
  /** Milliseconds for which a value is taken without being asked for again: what other clients change is seen after that. */
  age: number;
  /** Bytes of all values; the one that was used longest ago goes first. */
  bytes: number;
}

export class Cache<T> {
  readonly #entries = new Map<string, Entry<T>>();

  constructor(
    readonly bounds: Bounds,
    /** Bytes of a value; infinite for one that is not kept. */
    readonly bytesOf: (value: T) => number,
    readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The value of a key, loaded if it is not known; all who ask while it is on its way share one request, which is aborted when the
   * signals of all are. `collection` is what it is about; an empty string for all of them.
   */
  async get(
    key: string,
    collection: string,
    signal: AbortSignal,
    load: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const known = this.#entries.get(key);
    const isFresh = known && this.now() - known.at < this.bounds.age;
    const entry = isFresh ? known : this.#begin(key, collection, load);
    // The last that was used is the last.
    if (isFresh) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return this.#wait(key, entry, signal);
  }

  /** Forgets what is about a collection, and what is about all; without a name everything. What is on its way is not kept. */
  drop(collection?: string): void {
    for (const [key, entry] of this.#entries)
      if (collection === undefined || entry.collection === "" || entry.collection === collection)
        this.#entries.delete(key);
  }

  #begin(key: string, collection: string, load: (signal: AbortSignal) => Promise<T>): Entry<T> {
    const control = new AbortController();
    const entry = { collection, at: this.now(), bytes: 0, answer: load(control.signal), waiting: 0, control };
    this.#entries.set(key, entry);
    entry.answer.then(
      (value) => {
        entry.bytes = this.bytesOf(value);
        this.#shrink();
      },
      () => this.#forget(key, entry),
    );
    return entry;
  }

  #wait(key: string, entry: Entry<T>, signal: AbortSignal): Promise<T> {
    entry.waiting += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        entry.waiting -= 1;
        reject(signal.reason as Error);
        if (entry.waiting > 0) return;
        this.#forget(key, entry);
        entry.control.abort(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      void entry.answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
  }

  #shrink(): void {
    let bytes = 0;
    for (const [key, entry] of [...this.#entries].reverse()) {
      if (entry.bytes > this.bounds.bytes - bytes) this.#entries.delete(key);
      else bytes += entry.bytes;
    }
  }
  #forget(key: string, entry: Entry<T>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
