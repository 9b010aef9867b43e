"""Applies sync operations to vector stores of LangChain, LlamaIndex and Haystack, and to custom targets.

Existing vectors are read back from the store and written again with the new record. Deletions come last, so that the
run after an interrupted one still finds the vectors it needs. A journal beside the state lists the chunks that a run
may have written: those that no document holds any more are deleted by the next run.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ._chunkwright import Chunk
from ._stores import Held, Store, Vector, store_of

if TYPE_CHECKING:
    from ._sync import Operation

#: Number of chunks that are read, embedded and written at once.
BATCH = 256

T = TypeVar("T")


def apply(
    target: Any,
    operations: Sequence[Operation],
    embed: Any = None,
    *,
    journal: Journal | None = None,
    before: Callable[[], Iterable[Chunk]] = tuple,
    after: Callable[[], Iterable[Chunk]] = tuple,
) -> None:
    """Apply `operations` to `target`; `embed` makes vectors of texts that no chunk in it has.

    `before` and `after` return the chunks of the old and the new state; they are called only after an interrupted run.

    Raises `TypeError` for an unsupported target or embedder, and `ValueError` if an embedder is missing or returns the
    wrong number of vectors. Exceptions of the target or the embedder propagate; the same operations can then be applied
    again.
    """
    store = store_of(target, embed)
    writes = [one for one in operations if one.chunk is not None]
    digests = {one.chunk_id: digest(one.chunk.text) for one in writes if one.chunk is not None}
    begun = journal.begin(digests) if journal else {}
    known = Known(Counter(digests.values()), begun, before)
    for batch in batches(writes):
        _write(store, batch, known)
    gone = [one.chunk_id for one in operations if one.op == "delete"]
    gone += [one.old_chunk_id for one in writes if one.old_chunk_id is not None]
    if orphans := begun.keys() - digests.keys():
        gone += sorted(orphans.difference(chunk.chunk_id for chunk in after()))
    for ids in batches([one for one in dict.fromkeys(gone) if one not in digests]):
        store.delete(ids)


class Known:
    """Finds chunks that may hold the vector of a text."""

    def __init__(
        self, number: Mapping[str, int], begun: Mapping[str, str], before: Callable[[], Iterable[Chunk]]
    ) -> None:
        #: Number of chunks with a text, by its digest.
        self.number = number
        #: Vectors of repeated texts, for stores that do not return vectors.
        self.again: dict[str, Vector] = {}
        #: Chunks that an interrupted run may have written, by the digests of their texts.
        self.begun = by_digest(begun.items())
        self.before = before
        self.old: dict[str, list[str]] | None = None

    def sources(self, operation: Operation, text: str) -> list[str]:
        """The chunks expected to hold the vector of a text."""
        own = operation.chunk_id if operation.op == "update" else None
        named = [id_ for id_ in (own, operation.old_chunk_id, operation.vector_of) if id_ is not None]
        return named + (self.begun.get(digest(text), []) if self.begun else [])

    def others(self, text: str) -> list[str]:
        """Other chunks with a text: an interrupted run may have deleted the one that the operation names."""
        if self.old is None:
            self.old = by_digest((chunk.chunk_id, digest(chunk.text)) for chunk in self.before())
        return self.old.get(digest(text), [])


def by_digest(chunks: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for id_, key in chunks:
        ids.setdefault(key, []).append(id_)
    return ids


def _write(store: Store, batch: Sequence[Operation], known: Known) -> None:
    chunks = [one.chunk for one in batch if one.chunk is not None]
    sources = [(chunk.text, known.sources(one, chunk.text)) for one, chunk in zip(batch, chunks, strict=True)]
    held = held_of(store, [*(id_ for _, ids in sources for id_ in ids), *(one.chunk_id for one in batch)])
    vectors = {text: known.again[text] for text, _ in sources if text in known.again}
    vectors.update(found(held, sources))
    lost = [(text, known.others(text)) for text, ids in sources if ids and text not in vectors]
    vectors.update(found(held_of(store, [id_ for _, ids in lost for id_ in ids]), lost))
    missing = [text for text in dict.fromkeys(text for text, _ in sources) if text not in vectors]
    if missing:
        vectors.update(zip(missing, store.embed(missing), strict=True))
    known.again.update((text, vector) for text, vector in vectors.items() if known.number[digest(text)] > 1)
    there = [chunk.chunk_id for chunk in chunks if chunk.chunk_id in held]
    if there and not store.overwrites:
        store.delete(there)
    store.write(chunks, [vectors[chunk.text] for chunk in chunks])


def held_of(store: Store, ids: Iterable[str]) -> dict[str, Held]:
    ids = list(dict.fromkeys(ids))
    return store.held(ids) if ids else {}


def found(held: Mapping[str, Held], sources: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, Vector]]:
    """The texts whose vector one of the expected chunks holds, with the vector."""
    for text, ids in sources:
        for id_ in ids:
            vector = held[id_].vector_of(text) if id_ in held else None
            if vector is not None:
                yield text, vector
                break


def digest(text: str) -> str:
    """A key that identifies a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def batches(items: Sequence[T]) -> Iterator[list[T]]:
    """The items, `BATCH` at a time."""
    for start in range(0, len(items), BATCH):
        yield list(items[start : start + BATCH])


class Journal:
    """The chunks that a run may have written, in a file beside the state that exists until the run is complete."""

    def __init__(self, state: Any) -> None:
        path = Path(os.fspath(state))
        self.path = path.with_name(f".{path.name}.pending")

    def begin(self, chunks: Mapping[str, str]) -> dict[str, str]:
        """Add chunk ids with the digests of their texts before the first is written. Returns those of interrupted
        runs."""
        begun: dict[str, str] = {}
        if self.path.exists():
            lines = gzip.decompress(self.path.read_bytes()).decode().splitlines()
            begun.update((line[:32], line[33:]) for line in lines)
        together = {**begun, **chunks}
        if together != begun:
            lines = [f"{id_} {key}\n" for id_, key in together.items()]
            new = self.path.with_name(f"{self.path.name}.new")
            with new.open("wb") as file:
                # Binary, so that it is not read as a document if the state is in the folder of the documents.
                file.write(gzip.compress("".join(lines).encode(), mtime=0))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        return begun

    def close(self) -> None:
        """Remove the journal: the state now lists the chunks."""
        self.path.unlink(missing_ok=True)
