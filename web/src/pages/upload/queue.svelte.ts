// Uploads: files that wait, are sent, and what became of each. It goes on while other pages are shown.

import { Failure, failureOf, requestOf, send, type Schemas } from "../../api/client.ts";
import { adapt, FIRST, isHidden, together, type Picked } from "./files.ts";

export type State = "waiting" | "sending" | "stored" | "unchanged" | "failed" | "skipped";

export interface Item extends Picked {
  id: number;
  state: State;
  chunks?: number | undefined;
  doc_id?: string | undefined;
  message?: string | undefined;
}

export interface Target {
  collection: string;
  /** What stands before the paths in the ids. */
  prefix: string;
  /** How a new collection is cut. */
  preset: string;
}

class Uploads {
  items = $state.raw<Item[]>([]);
  running = $state(false);
  /** What no file is to blame for: the server is gone, or wants another key. */
  failure = $state.raw<unknown>();
  target = $state.raw<Target | null>(null);
  notices = $state.raw<Schemas["Notice"][]>([]);
  #ids = 0;
  #control = new AbortController();

  counts = $derived.by(() => {
    const counts: Record<State, number> = { waiting: 0, sending: 0, stored: 0, unchanged: 0, failed: 0, skipped: 0 };
    for (const { state } of this.items) counts[state] += 1;
    return counts;
  });
  bytes = $derived(this.items.reduce((sum, { state, file }) => (state === "skipped" ? sum : sum + file.size), 0));
  sent = $derived(
    this.items.reduce(
      (sum, { state, file }) =>
        state === "stored" || state === "unchanged" || state === "failed" ? sum + file.size : sum,
      0,
    ),
  );

  /** Adds files; one that is there already, and not stored yet, is replaced. */
  add = (picked: Picked[]): void => {
    const paths = new Set(picked.map(({ path }) => path));
    const kept = this.items.filter(({ path, state }) => state === "sending" || !paths.has(path));
    this.items = [
      ...kept,
      ...picked.map((item): Item => ({ ...item, id: ++this.#ids, state: isHidden(item.path) ? "skipped" : "waiting" })),
    ];
  };
  remove = (id: number): void =>
    void (this.items = this.items.filter((item) => item.id !== id || item.state === "sending"));
  clear = (): void => {
    if (this.running) return;
    this.items = [];
    this.notices = [];
    this.failure = undefined;
  };
  /** Lets those that failed wait again. */
  again = (): void =>
    this.#set(new Set(this.items.filter(({ state }) => state === "failed").map(({ id }) => id)), () => ({
      state: "waiting",
      message: undefined,
    }));
  stop = (): void => this.#control.abort();

  /** Sends all that waits. */
  start = async (target: Target): Promise<void> => {
    if (this.running) return;
    this.running = true;
    this.target = target;
    this.failure = undefined;
    this.notices = [];
    this.#control = new AbortController();
    let bounds = FIRST;
    try {
      for (;;) {
        const waiting = this.items.filter(({ state }) => state === "waiting");
        const batch = waiting.slice(
          0,
          together(
            waiting.map(({ file }) => file.size),
            bounds,
          ),
        );
        if (batch.length === 0 || this.#control.signal.aborted) break;
        const begun = performance.now();
        await this.#send(batch, target);
        bounds = adapt(bounds, performance.now() - begun);
      }
    } catch (failure) {
      if (!this.#control.signal.aborted) this.failure = failure;
    } finally {
      // Whether what was under way is stored is not known: it is sent again, and stored once.
      this.#set(new Set(this.items.filter(({ state }) => state === "sending").map(({ id }) => id)), () => ({
        state: "waiting",
      }));
      this.running = false;
    }
  };

  async #send(batch: Item[], target: Target): Promise<void> {
    this.#set(new Set(batch.map(({ id }) => id)), () => ({ state: "sending" }));
    try {
      const answer = await this.#post(batch, target);
      const results = new Map(batch.map(({ id }, at) => [id, answer.documents[at]]));
      this.#set(new Set(results.keys()), ({ id }) => {
        const result = results.get(id);
        return result
          ? {
              state: result.state,
              chunks: result.chunks ?? undefined,
              doc_id: result.doc_id,
              message: result.message ?? undefined,
            }
          : { state: "failed" };
      });
      const known = new Set(this.notices.map(({ message }) => message));
      this.notices = [...this.notices, ...(answer.notices ?? []).filter(({ message }) => !known.has(message))].slice(
        -8,
      );
    } catch (failure) {
      // What is wrong with one file refuses them all: each is tried alone.
      const isOfFile =
        failure instanceof Failure
        && [400, 409, 413, 415, 422].includes(failure.status)
        && failure.problem.code !== "unknown_collection";
      if (!isOfFile || this.#control.signal.aborted) throw failure;
      if (batch.length > 1) for (const item of batch) await this.#send([item], target);
      else this.#set(new Set([batch[0]!.id]), () => ({ state: "failed", message: failure.message }));
    }
  }

  async #post(batch: Item[], { collection, prefix, preset }: Target): Promise<Schemas["PutAnswer"]> {
    const form = new FormData();
    if (prefix) form.append("prefix", prefix.endsWith("/") ? prefix : `${prefix}/`);
    if (preset) form.append("settings", JSON.stringify({ preset }));
    for (const { file, path } of batch) form.append("file", file, path);
    const request = requestOf(`/api/v1/collections/${encodeURIComponent(collection)}/documents`, {
      method: "POST",
      body: form,
      signal: this.#control.signal,
    });
    const response = await send(request);
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as Schemas["PutAnswer"];
  }

  #set(ids: Set<number>, change: (item: Item) => Partial<Item>): void {
    if (ids.size > 0) this.items = this.items.map((item) => (ids.has(item.id) ? { ...item, ...change(item) } : item));
  }
}

export const uploads = new Uploads();
