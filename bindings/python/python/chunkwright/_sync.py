"""Keeps a vector database in step with documents: only what changed is embedded, moved or deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _chunkwright
from ._answer import Answer
from ._chunkwright import Chunk, Chunks

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Path, Source

Embed = Callable[[list[str]], Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Operation:
    """What a database has to do, in order.

    `upsert` adds a chunk: with the vector of the chunk `vector_of`, which it has, or with a new one of `chunk.text`.
    `rename` gives the chunk `old_chunk_id` another id and record, and keeps its vector. `update` replaces a record, and
    keeps id and vector. `delete` removes a chunk.
    """

    op: Literal["upsert", "update", "rename", "delete"]
    chunk_id: str
    chunk: Chunk | None = None
    old_chunk_id: str | None = None
    vector_of: str | None = None

    @property
    def needs_vector(self) -> bool:
        """Whether no chunk has the vector of this text yet."""
        return self.op == "upsert" and self.vector_of is None


class Sync:
    """The operations since the last time, as a context: its state is written when it ends without an exception, after
    the last operation was taken."""

    def __init__(self, plan: _chunkwright.Plan, state: Any) -> None:
        self._plan = plan
        self._state = state
        self._operations = [
            Operation(
                op=one["op"],
                chunk_id=one["chunk_id"],
                chunk=one.get("record"),
                old_chunk_id=one.get("old_chunk_id"),
                vector_of=one.get("vector_of"),
            )
            for one in plan.operations()
        ]
        self._taken = 0

    @property
    def texts(self) -> list[str]:
        """The texts that no chunk has a vector of, each once, in order."""
        texts = (one.chunk.text for one in self._operations if one.needs_vector and one.chunk)
        return list(dict.fromkeys(texts))

    @property
    def summary(self) -> Answer:
        """What became of the chunks, as numbers."""
        return Answer(self._plan.summary())

    @property
    def chunks(self) -> Chunks:
        """The chunks that the database has when all is done."""
        return self._plan.chunks()

    def __len__(self) -> int:
        return len(self._operations)

    def __iter__(self) -> Iterator[Operation]:
        self._taken = 0
        for operation in self._operations:
            yield operation
            # Only when the next one is asked for, this one was done.
            self._taken += 1

    def __enter__(self) -> Sync:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._taken == len(self._operations):
            self.commit()

    def commit(self) -> None:
        """Write the state, whole or not at all: what was done so far is the beginning of the next time."""
        self._plan.save()

    def to(self, target: Any, embed: Any = None) -> Sync:
        """Apply all operations to `target`, then write the state.

        The target is a `VectorStore` of LangChain, a vector store or `VectorStoreIndex` of LlamaIndex, a
        `DocumentStore` of Haystack, or any object with `upsert(chunks, vectors)`, which replaces chunks with the same
        ids, and `delete(ids)`; if it also has `vectors(ids)`, which returns a dictionary of the vectors it holds, moved
        and renamed chunks are not embedded again. `embed` is a function from a list of texts to vectors, or an embedder
        of LangChain, LlamaIndex, Sentence Transformers or Haystack; it is required if the target does not embed by
        itself.

        Only texts that the store does not hold are embedded. That needs the stored vectors, which are read back from
        Chroma, LanceDB, Qdrant and the in-memory store of each framework, and through LangChain also from PostgreSQL;
        other stores embed moved and renamed chunks again.

        If a run is interrupted, the state is not written, and the next run resumes where it stopped. Until then, the
        file `.NAME.pending` beside the state lists the chunks that may have been written. To embed everything again,
        delete both files.

        Raises `TypeError` for an unsupported target or embedder, and `ValueError` if an embedder is missing or returns
        the wrong number of vectors. Exceptions of the target or the embedder propagate.
        """
        from ._targets import Journal, apply

        journal = Journal(self._state)
        plan = self._plan
        apply(target, self._operations, embed, journal=journal, before=plan.before, after=plan.chunks)
        self.commit()
        journal.close()
        return self

    def __repr__(self) -> str:
        counts = {
            name: sum(one.op == name for one in self._operations) for name in ("upsert", "update", "rename", "delete")
        }
        return f"Sync({', '.join(f'{number} {name}' for name, number in counts.items())}; {len(self.texts)} texts to embed)"


def sync(source: Source, *, state: Path, **keys: Unpack[Keys]) -> Sync:
    """Plan what a vector database has to do to hold the chunks of `source` as they are now.

    `state` is a file that holds the chunks of the last time; it need not exist. Keywords are keys of the settings.

        with cw.sync("docs", state="docs.state") as s:
            vectors = dict(zip(s.texts, embed(s.texts)))
            for operation in s:
                ...
    """
    return Sync(_chunkwright.plan(source, state, **keys), state)
