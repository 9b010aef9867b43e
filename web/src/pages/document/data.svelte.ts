// A document as the workbench has it: its source, its chunks as they arrive, and what was changed of them by hand.

import { api, Failure, ok, sourceOf, type Schemas } from "../../api/client.ts";
import { lay, type Layout } from "../../chunks/layout.ts";
import { languageOf } from "../../chunks/syntax/languages.ts";
import type { Chunk, OutlineRow, Rows } from "../../chunks/types.ts";
import { complain } from "../../ui/toasts.svelte.ts";

export type Overlay = Schemas["ListedOverlay"];
export type Detail = Schemas["ChunkDetail"];
/** What is absent stays as it is. */
export type Change = Partial<Schemas["ChunkChange"]>;

/** Whether the text of a chunk is one that was given by hand: in a conflict it is the source's. */
const isEdited = (overlay: Overlay | undefined): boolean => overlay?.text != null && overlay.state !== "conflict";

const PAGE = 1000;

export class DocumentData {
  info = $state.raw<Schemas["DocumentInfo"]>();
  settings = $state.raw<Record<string, unknown>>();
  /** Whether the settings are those that the collection was cut by. */
  isExact = $state(false);
  outline = $state.raw<OutlineRow[]>();
  layout = $state.raw<Layout>();
  chunks = $state.raw<Chunk[]>([]);
  total = $state(0);
  complete = $state(false);
  /** The chunks at their places, those that have not arrived as well. */
  readonly rows = $derived<Rows>({
    length: this.complete ? this.chunks.length : Math.max(this.total, this.chunks.length),
    at: (position) => this.chunks[position],
  });
  failure = $state.raw<unknown>();
  /** What was changed by hand: by the chunk that it is on, and what is on none. */
  overlays = $state.raw(new Map<string, Overlay>());
  orphans = $state.raw<Overlay[]>([]);
  /** Boundaries set by hand, by the chunk that each is on. */
  boundaries = $state.raw(new Map<string, Overlay[]>());
  /** Positions of chunks by id. */
  positions = new Map<string, number>();
  source = $state.raw("");
  readonly unit = $derived(this.settings?.["unit"] === "chars" ? "chars" : "tokens");
  readonly limit = $derived(Number(this.settings?.["max_size"] ?? 512));
  readonly language = $derived.by(() =>
    this.layout ? languageOf(this.doc_id, this.info?.format, this.chunks.slice(0, 1)) : null,
  );
  readonly isMarkdown = $derived(this.language === "markdown" || this.info?.format === "markdown");
  readonly sizeOf = $derived(({ char_count, token_count }: Chunk) =>
    this.unit === "chars" ? char_count : token_count,
  );

  #control = new AbortController();

  constructor(
    readonly collection: string,
    readonly doc_id: string,
  ) {
    void this.load();
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }
  stop(): void {
    this.#control.abort();
  }

  /** Loads all there is, the source and the first chunks first. */
  load = async (): Promise<void> => {
    this.stop();
    this.#control = new AbortController();
    const { signal } = this;
    this.failure = undefined;
    this.complete = false;
    const path = { collection: this.collection, doc_id: this.doc_id };
    const params = { params: { path }, signal };
    const source = sourceOf(this.collection, this.doc_id, signal);
    const aside = (done: Promise<void>) => void done.catch((failure: unknown) => signal.aborted || complain(failure));
    try {
      const info = ok(api.GET("/api/v1/collections/{collection}/documents/{doc_id}", params));
      aside(
        ok(api.GET("/api/v1/collections/{collection}/documents/{doc_id}/outline", params)).then(
          (rows) => void (this.outline = rows),
        ),
      );
      aside(
        ok(api.GET("/api/v1/collections/{collection}/configuration", params)).then(({ current, planned }) => {
          this.settings = current ?? planned;
          this.isExact = current !== undefined;
        }),
      );
      [this.info] = await Promise.all([info, this.#loadChunks(source, signal)]);
      aside(this.loadOverlays());
    } catch (failure) {
      if (!signal.aborted) this.failure = failure;
    }
  };

  async #loadChunks(source: Promise<string>, signal: AbortSignal): Promise<void> {
    source.catch(() => {});
    const chunks: Chunk[] = [];
    let cursor: string | undefined;
    do {
      const query = { doc_id: this.doc_id, limit: PAGE, ...(cursor && { cursor }) };
      const page = await ok(
        api.GET("/api/v1/collections/{collection}/chunks", {
          params: { path: { collection: this.collection }, query },
          signal,
        }),
      );
      // Summaries are no part of the source; they stand behind the chunks.
      for (const chunk of page.chunks) if (!chunk.artifact) chunks.push(chunk);
      cursor = page.next ?? undefined;
      this.total = Math.max(chunks.length, chunks[0]?.total_chunks ?? 0);
      if (!this.layout || !cursor) {
        // The first page is shown at once, and all when all are there.
        this.source = await source;
        if (signal.aborted) return;
        this.#show(cursor ? chunks.slice() : chunks);
      }
      this.total = Math.max(this.total, chunks.length);
      this.loaded = chunks.length;
    } while (cursor);
    this.complete = true;
  }
  loaded = $state(0);

  #show(chunks: Chunk[]): void {
    const layout = lay(this.source, chunks);
    // Contents are parts of the source: they need no memory of their own.
    chunks.forEach((chunk, at) => {
      const content = this.source.slice(layout.start[at], layout.end[at]);
      if (content !== chunk.content) return;
      chunk.content = content;
      const own = chunk.context + content;
      if (chunk.text === own) chunk.text = chunk.context ? own : content;
    });
    this.positions = new Map(chunks.map(({ chunk_id }, at) => [chunk_id, at]));
    this.chunks = chunks;
    this.layout = layout;
  }

  /** Reads what was changed by hand, all of the collection's to find what is of this document. */
  loadOverlays = async (): Promise<void> => {
    const { signal } = this;
    const overlays = new Map<string, Overlay>();
    const orphans: Overlay[] = [];
    const boundaries = new Map<string, Overlay[]>();
    let cursor: string | undefined;
    do {
      const query = { limit: PAGE, ...(cursor && { cursor }) };
      const page = await ok(
        api.GET("/api/v1/collections/{collection}/overlays", {
          params: { path: { collection: this.collection }, query },
          signal,
        }),
      );
      for (const overlay of page.overlays) {
        if (overlay.on && overlay.boundary) {
          if (overlay.on_doc_id === this.doc_id)
            boundaries.set(overlay.on, [...(boundaries.get(overlay.on) ?? []), overlay]);
        } else if (overlay.on && overlay.on_doc_id === this.doc_id) overlays.set(overlay.on, overlay);
        else if (!overlay.on && overlay.doc_id === this.doc_id) orphans.push(overlay);
      }
      cursor = page.next ?? undefined;
    } while (cursor);
    if (signal.aborted) return;
    this.overlays = overlays;
    this.orphans = orphans;
    this.boundaries = boundaries;
    this.#replace((chunk) => {
      const edited = isEdited(overlays.get(chunk.chunk_id));
      return Boolean(chunk.edited) === edited ? chunk : { ...chunk, edited };
    });
  };

  /** Puts changed chunks in the place of what they were. Their spans stay. */
  #replace(change: (chunk: Chunk) => Chunk): void {
    let isChanged = false;
    const chunks = this.chunks.map((chunk) => {
      const next = change(chunk);
      isChanged ||= next !== chunk;
      return next;
    });
    if (!isChanged) return;
    this.chunks = chunks;
    if (this.layout) this.layout = { ...this.layout, chunks };
  }

  /** The chunk as the server has it now, and the tag of that. */
  async read(chunk_id: string): Promise<{ detail: Detail; tag: string }> {
    const path = { collection: this.collection, chunk: chunk_id };
    const answer = await api.GET("/api/v1/collections/{collection}/chunks/{chunk}", {
      params: { path },
      signal: this.signal,
      cache: "no-store",
    });
    const detail = await ok(Promise.resolve(answer));
    this.#take([detail]);
    return { detail, tag: answer.response.headers.get("etag") ?? "" };
  }

  /** Changes one chunk, if it is still what the tag says. */
  async change(chunk_id: string, change: Change, tag?: string): Promise<Detail> {
    const params = {
      path: { collection: this.collection, chunk: chunk_id },
      ...(tag && { header: { "If-Match": tag } }),
    };
    const detail = await ok(
      api.PATCH("/api/v1/collections/{collection}/chunks/{chunk}", { params, body: change as Schemas["ChunkChange"] }),
    );
    this.#take([detail]);
    return detail;
  }

  /** Changes chunks, all or none. */
  async amend(ids: string[], change: Change): Promise<void> {
    const params = { path: { collection: this.collection } };
    await ok(
      api.POST("/api/v1/collections/{collection}/chunks/amend", {
        params,
        body: { chunks: ids, ...change } as Schemas["AmendRequestInput"],
      }),
    );
    const changed = new Set(ids);
    if (change.enabled !== undefined && change.enabled !== null) {
      const enabled = change.enabled;
      this.#replace((chunk) => (changed.has(chunk.chunk_id) ? { ...chunk, enabled } : chunk));
    }
    // Texts are what they were again: sizes with them.
    const edited = change.reset ? ids.filter((id) => this.overlays.get(id)?.text != null) : [];
    await Promise.all(edited.map((id) => this.read(id)));
    await this.loadOverlays();
  }

  /** Splits a chunk at a byte of the document, or merges it with the one beside it. */
  async divide(chunk_id: string, how: { byte: number } | { with: Schemas["Side"] }): Promise<string[]> {
    const params = { path: { collection: this.collection, chunk: chunk_id } };
    const { chunks } = await ok(
      "with" in how
        ? api.POST("/api/v1/collections/{collection}/chunks/{chunk}/merge", { params, body: how })
        : api.POST("/api/v1/collections/{collection}/chunks/{chunk}/split", {
            params,
            body: how as Schemas["Divided"],
          }),
    );
    await this.load();
    return chunks;
  }

  /** Takes a boundary that was set by hand back, or accepts it where it is. */
  async settle({ chunk_id }: Overlay, change: { reset: true } | { accept: true }): Promise<void> {
    await this.amend([chunk_id], change);
    if ("reset" in change) await this.load();
  }

  /** Takes chunks over as the server has them. */
  #take(details: Detail[]): void {
    const overlays = new Map(this.overlays);
    for (const { chunk_id, overlay } of details) {
      if (overlay) overlays.set(chunk_id, overlay);
      else overlays.delete(chunk_id);
    }
    this.overlays = overlays;
    const byId = new Map(details.map((detail) => [detail.chunk_id, detail]));
    this.#replace((chunk) => {
      const now = byId.get(chunk.chunk_id);
      if (!now) return chunk;
      const { text, char_count, word_count, token_count, token_level, oversize, enabled, embedded } = now;
      return {
        ...chunk,
        text,
        char_count,
        word_count,
        token_count,
        token_level,
        oversize,
        enabled,
        embedded,
        edited: isEdited(now.overlay),
      };
    });
  }

  /** Tokens or characters of a text, by what counts the chunks. */
  async count(text: string, signal: AbortSignal): Promise<number> {
    const most = 1_000_000;
    const whole = {
      preset: "adaptive",
      strategy: "adaptive",
      short_size: most,
      long_size: most,
      max_size: most,
      target_size: most,
      medium_max_size: most,
    };
    const settings = { ...this.settings, ...whole, context: "none" as const, overlap_size: 0, medium_overlap_size: 0 };
    const body: Partial<Schemas["PreviewRequest"]> = { text, settings };
    const { statistics } = await ok(api.POST("/api/v1/preview", { body: body as Schemas["PreviewRequest"], signal }));
    return statistics.sizes.sum;
  }
}

export const isGone = (failure: unknown): boolean => failure instanceof Failure && failure.status === 404;
export const isChangedMeanwhile = (failure: unknown): boolean => failure instanceof Failure && failure.status === 412;
