// Jobs as they go on: those that run are followed by events, the others are looked at again from time to time.

import { untrack } from "svelte";
import { api, ok, type Schemas } from "./client.ts";
import { collectionOf, follow, noted } from "./events.ts";

export type Job = Schemas["Job"];
export type JobState = Schemas["JobState"];

export { collectionOf };
export const STATES: JobState[] = ["queued", "running", "succeeded", "failed", "cancelled", "interrupted"];
export const isActive = ({ state }: Job): boolean => state === "queued" || state === "running";

interface Query {
  collection?: string | undefined;
  state?: JobState | undefined;
  limit?: number;
}

/** A browser keeps six connections to a server, and a followed job holds one. */
const FOLLOWED = 2;
const SOON = 1_500;
const LATER = 3_000;

export class Jobs {
  list = $state.raw<Job[]>([]);
  failure = $state.raw<unknown>();
  loaded = $state(false);
  next = $state.raw<string | null>(null);
  busy = $state(false);
  /** Grows when a job ends: what shows its effects reads this, to be loaded anew. */
  ended = $state(0);
  /** Grows while jobs are under way, about every second. */
  ticks = $state(0);
  active = $derived(this.list.filter(isActive));

  #query: Query = {};
  #control = new AbortController();
  #followed = new Map<number, AbortController>();
  #timer = 0;
  /** Numbers of jobs that were seen before they ended. */
  #begun = new Set<number>();

  constructor(query: () => Query) {
    $effect(() => {
      this.#query = query();
      untrack(() => {
        this.list = [];
        this.next = null;
        this.loaded = false;
        this.#control = new AbortController();
        void this.reload();
      });
      return () => this.#stop();
    });
    $effect(() => {
      const seen = () => document.visibilityState === "visible" && void this.reload();
      document.addEventListener("visibilitychange", seen);
      return () => document.removeEventListener("visibilitychange", seen);
    });
  }

  /** Looks at the newest jobs again. */
  reload = async (): Promise<void> => {
    clearTimeout(this.#timer);
    const { signal } = this.#control;
    try {
      const page = await this.#page(undefined, signal);
      if (signal.aborted) return;
      this.#take(page.jobs);
      if (!this.loaded) this.next = page.next ?? null;
      this.failure = undefined;
      this.loaded = true;
      if (this.active.length > 0) this.ticks += 1;
    } catch (failure) {
      if (signal.aborted) return;
      this.failure = failure;
    }
    this.#timer = window.setTimeout(
      () => document.visibilityState === "visible" && void this.reload(),
      this.active.length > 0 ? SOON : LATER,
    );
  };

  /** Older jobs. */
  more = async (): Promise<void> => {
    if (!this.next || this.busy) return;
    this.busy = true;
    const { signal } = this.#control;
    try {
      const page = await this.#page(this.next, signal);
      if (signal.aborted) return;
      this.#take(page.jobs);
      this.next = page.next ?? null;
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    } finally {
      this.busy = false;
    }
  };

  /** Takes in what a request answered about a job. */
  put = (job: Job): void => {
    this.#take([job]);
    void this.reload();
  };

  #page(cursor: string | undefined, signal: AbortSignal) {
    const { limit = 50, ...rest } = this.#query;
    return ok(api.GET("/api/v1/jobs", { params: { query: { limit, ...rest, ...(cursor && { cursor }) } }, signal }));
  }

  #take(jobs: Job[]): void {
    const known = new Map(this.list.map((job) => [job.id, job]));
    let ended = 0;
    for (const job of jobs) {
      noted(job);
      const before = known.get(job.id);
      // An event may be newer than an answer that was asked for before it.
      if (before && !isActive(before) && isActive(job) && before.revision >= job.revision) continue;
      if (before && before.state === job.state && before.revision > job.revision) continue;
      if (isActive(job)) this.#begun.add(job.id);
      else if (this.#begun.delete(job.id)) ended += 1;
      known.set(job.id, job);
    }
    const { state } = this.#query;
    this.list = Array.from(known.values())
      .filter((job) => !state || job.state === state)
      .sort((a, b) => b.id - a.id);
    if (ended > 0) this.ended += ended;
    this.#followSome();
  }

  #followSome(): void {
    for (const job of this.list.filter(({ state }) => state === "running")) {
      if (this.#followed.size >= FOLLOWED || this.#followed.has(job.id)) continue;
      const control = new AbortController();
      this.#followed.set(job.id, control);
      void this.#follow(job.id, control.signal);
    }
  }

  async #follow(id: number, signal: AbortSignal): Promise<void> {
    try {
      for await (const job of follow(id, signal)) if (!signal.aborted) this.#take([job]);
    } catch {
      // It is looked at again by and by.
    } finally {
      this.#followed.delete(id);
      if (!signal.aborted) void this.reload();
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#control.abort();
    for (const control of this.#followed.values()) control.abort();
    this.#followed.clear();
  }
}

/** Jobs, while the component is there. */
export const watchJobs = (query: () => Query): Jobs => new Jobs(query);

/** How much of a job is done, from 0 to 1; none while that is not known. `documents` is how many its collection has. */
export function shareOf({ progress, state }: Job, documents?: number): number | null {
  if (state === "succeeded") return 1;
  const { files, files_found, bytes, bytes_found, texts, texts_found } = progress;
  const read =
    bytes_found > 0
      ? bytes / bytes_found
      : files_found > 0
        ? files / files_found
        : documents && files > 0
          ? files / documents
          : null;
  if (texts_found > 0 && read !== null) return Math.min(1, 0.3 * Math.min(1, read) + 0.7 * (texts / texts_found));
  if (texts_found > 0) return texts / texts_found;
  return read === null ? null : Math.min(1, read);
}
