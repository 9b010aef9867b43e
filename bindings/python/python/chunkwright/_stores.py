"""Targets of sync: vector stores of LangChain, LlamaIndex and Haystack, and custom objects.

Chunks are written by the framework's own methods and look as if its splitter had made them. No framework has a method
that returns stored vectors: reading them is implemented for common stores, and others embed again.

No framework is imported unless the target belongs to it.
"""

from __future__ import annotations

import copy
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ._chunkwright import Chunk

Vector = list[float]


@dataclass(frozen=True)
class Held:
    """What a store holds under an id: the embedded text and its vector, if it returns them."""

    text: str | None
    vector: Vector | None

    def vector_of(self, text: str) -> Vector | None:
        """The vector, if it is that of `text`."""
        return self.vector if self.text is None or self.text == text else None


class Store(ABC):
    """A target."""

    #: Whether writing a chunk replaces the one with its id.
    overwrites = False
    embedder: Callable[[list[str]], Any] | None = None

    @abstractmethod
    def held(self, ids: list[str]) -> dict[str, Held]:
        """What it holds under the ids; missing ids are left out."""

    @abstractmethod
    def write(self, chunks: list[Chunk], vectors: list[Vector]) -> None:
        """Add chunks."""

    @abstractmethod
    def delete(self, ids: list[str]) -> None:
        """Remove chunks; some may not exist."""

    def embed(self, texts: list[str]) -> list[Vector]:
        """Make vectors."""
        if self.embedder is None:
            raise ValueError(
                "this target does not embed texts; give `embed`, a function from a list of texts to vectors"
            )
        vectors = [vector_of(vector) for vector in self.embedder(texts)]
        if len(vectors) != len(texts):
            raise ValueError(
                f"the embedder returned {len(vectors)} vectors for {len(texts)} texts; expected one for each"
            )
        return vectors


def vector_of(vector: Any) -> Vector:
    """A vector as a list of numbers."""
    return [float(number) for number in (vector.tolist() if hasattr(vector, "tolist") else vector)]


def embedder_of(embed: Any) -> Callable[[list[str]], Any] | None:
    """The embedding function: `embed` itself, or the method of an embedder of LangChain, LlamaIndex, Sentence
    Transformers or Haystack."""
    if embed is None:
        return None
    for name in ("embed_documents", "get_text_embedding_batch", "encode"):
        method = getattr(embed, name, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    if hasattr(embed, "__haystack_input__"):
        from haystack import Document

        return lambda texts: [
            one.embedding for one in embed.run(documents=[Document(content=text) for text in texts])["documents"]
        ]
    if callable(embed):
        return embed  # type: ignore[no-any-return]
    raise TypeError(f"`embed` is a `{type(embed).__qualname__}`; expected a function from a list of texts to vectors")


def is_a(value: Any, package: str, name: str) -> bool:
    """Whether a value is an instance of a class of a package, without importing the package."""
    return any(
        one.__name__ == name and (one.__module__ == package or one.__module__.startswith(f"{package}."))
        for one in type(value).__mro__
    )


def store_of(target: Any, embed: Any) -> Store:
    """The target of an object."""
    embedder = embedder_of(embed)
    if is_a(target, "langchain_core", "VectorStore"):
        return _LangChain(target, embedder)
    if is_a(target, "llama_index", "VectorStoreIndex"):
        return _LlamaIndex(target.vector_store, embedder, target)
    if is_a(target, "llama_index", "BasePydanticVectorStore"):
        return _LlamaIndex(target, embedder)
    if all(
        callable(getattr(target, name, None)) for name in ("write_documents", "filter_documents", "delete_documents")
    ):
        return _Haystack(target, embedder)
    kind = f"{type(target).__module__}.{type(target).__qualname__}"
    for package in ("chromadb", "lancedb", "qdrant_client"):
        if kind.startswith(f"{package}."):
            raise TypeError(
                f"`{kind}` is a database client; expected the vector store of LangChain, LlamaIndex or Haystack that "
                "wraps it, or an object with `upsert(chunks, vectors)` and `delete(ids)`"
            )
    if callable(getattr(target, "upsert", None)) and callable(getattr(target, "delete", None)):
        return _Own(target, embedder)
    raise TypeError(
        f"`{kind}` cannot be a target; expected a vector store of LangChain or LlamaIndex, a document store of "
        "Haystack, or an object with `upsert(chunks, vectors)` and `delete(ids)`"
    )


class _Own(Store):
    """A custom object with `upsert(chunks, vectors)` and `delete(ids)`, and optionally `vectors(ids)`, which returns a
    dictionary from the ids it holds to their vectors."""

    overwrites = True

    def __init__(self, target: Any, embedder: Callable[[list[str]], Any] | None) -> None:
        self.target = target
        self.embedder = embedder

    def held(self, ids: list[str]) -> dict[str, Held]:
        if not callable(getattr(self.target, "vectors", None)):
            return {}
        return {id_: Held(None, vector_of(vector)) for id_, vector in self.target.vectors(ids).items()}

    def write(self, chunks: list[Chunk], vectors: list[Vector]) -> None:
        self.target.upsert(chunks, vectors)

    def delete(self, ids: list[str]) -> None:
        self.target.delete(ids)


class _LangChain(Store):
    """A `VectorStore` of LangChain. It embeds by itself, so its embeddings are replaced while known vectors are
    written.

    Vectors are read back from Chroma, LanceDB, PGVector, PGVectorStore, Qdrant and `InMemoryVectorStore`; other stores
    embed a text again if its record changed.
    """

    #: Stores in which adding a document replaces the one with the same id.
    OVERWRITE = ("Chroma", "InMemoryVectorStore", "PGVector", "PGVectorStore", "QdrantVectorStore")

    def __init__(self, target: Any, embedder: Callable[[list[str]], Any] | None) -> None:
        self.target = target
        self.kind = next((one for one in (*self.OVERWRITE, "LanceDB") if is_langchain(target, one)), None)
        self.overwrites = self.kind in self.OVERWRITE
        self.place = embeddings_of(target)
        self.embedder = embedder or embedder_of(self.place.value)

    def held(self, ids: list[str]) -> dict[str, Held]:
        match self.kind:
            case "InMemoryVectorStore":
                found = {id_: self.target.store[id_] for id_ in ids if id_ in self.target.store}
                return {id_: Held(one["text"], vector_of(one["vector"])) for id_, one in found.items()}
            case "Chroma":
                return held_by_chroma(self.target._collection, ids)
            case "QdrantVectorStore":
                return self._held_by_qdrant(ids)
            case "LanceDB":
                table, _ = self.target._get_or_create_table()
                return held_by_lance(table, ids, "vector", "text")
            case "PGVector":
                return self._held_by_postgres(ids)
            case "PGVectorStore":
                return self._held_by_postgres_table(ids)
            case _:
                try:
                    return {one.id: Held(one.page_content, None) for one in self.target.get_by_ids(ids) if one.id}
                except NotImplementedError:
                    return {}

    def _held_by_qdrant(self, ids: list[str]) -> dict[str, Held]:
        store = self.target
        points = store.client.retrieve(
            store.collection_name, ids, with_payload=[store.content_payload_key], with_vectors=True
        )
        held: dict[str, Held] = {}
        for point in points:
            vector: Any = point.vector
            if isinstance(vector, dict):
                vector = vector.get(store.vector_name)
            payload: dict[str, Any] = point.payload or {}
            text = payload.get(store.content_payload_key)
            held[str(point.id).replace("-", "")] = Held(text, None if vector is None else vector_of(vector))
        return held

    def _held_by_postgres(self, ids: list[str]) -> dict[str, Held]:
        table = self.target.EmbeddingStore
        with self.target._make_sync_session() as session:
            rows = session.query(table.id, table.document, table.embedding).filter(table.id.in_(ids)).all()
        return {id_: Held(text, None if vector is None else vector_of(vector)) for id_, text, vector in rows}

    def _held_by_postgres_table(self, ids: list[str]) -> dict[str, Held]:
        # The store inside, as one of which the vector is metadata.
        view = copy.copy(self.place.owner)
        view.metadata_columns = [view.embedding_column]
        held: dict[str, Held] = {}
        for one in self.target._engine._run_as_sync(view.aget_by_ids(ids)):
            vector = one.metadata[view.embedding_column]
            vector = json.loads(vector) if isinstance(vector, str) else vector
            held[str(one.id).replace("-", "")] = Held(one.page_content, None if vector is None else vector_of(vector))
        return held

    def write(self, chunks: list[Chunk], vectors: list[Vector]) -> None:
        from .langchain import document_of

        documents = [document_of(chunk.dict()) for chunk in chunks]
        known = {chunk.text: vector for chunk, vector in zip(chunks, vectors, strict=True)}
        with self.place.knowing(known):
            self.target.add_documents(documents, ids=[chunk.chunk_id for chunk in chunks])

    def delete(self, ids: list[str]) -> None:
        self.target.delete(ids)


def is_langchain(target: Any, name: str) -> bool:
    return any(one.__name__ == name and "langchain" in one.__module__ for one in type(target).__mro__)


@dataclass
class Place:
    """Where a store of LangChain keeps its embeddings."""

    owner: Any
    name: str
    value: Any

    #: Serializes the replacement of embeddings.
    lock = threading.Lock()

    @contextmanager
    def knowing(self, vectors: Mapping[str, Vector]) -> Generator[None]:
        """Replace the embeddings by known vectors within the context. Queries still use the store's own embeddings."""
        from langchain_core.embeddings import Embeddings

        place = self

        class Knowing(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[Vector]:
                if all(text in vectors for text in texts):
                    return [vectors[text] for text in texts]
                return place.value.embed_documents(texts)  # type: ignore[no-any-return]

            def embed_query(self, text: str) -> Vector:
                return place.value.embed_query(text)  # type: ignore[no-any-return]

            def __getattr__(self, name: str) -> Any:
                return getattr(place.value, name)

        with self.lock:
            before = self.owner.__dict__[self.name]
            self.owner.__dict__[self.name] = Knowing()
            try:
                yield
            finally:
                self.owner.__dict__[self.name] = before


def embeddings_of(store: Any) -> Place:
    """Where a store, or a store that it wraps, keeps its embeddings."""
    members = getattr(store, "__dict__", {})
    for name, value in members.items():
        if is_a(value, "langchain_core", "Embeddings"):
            return Place(store, name, value)
    for value in members.values():
        if is_a(value, "langchain_core", "VectorStore"):
            return embeddings_of(value)
    for name in ("_embedding_function", "embedding_function", "_embeddings", "embeddings", "_embedding", "embedding"):
        if name in members:
            return Place(store, name, members[name])
    raise TypeError(
        f"`{type(store).__qualname__}` has no embeddings that a vector can be given to; expected a store with them"
    )


class _LlamaIndex(Store):
    """A vector store of LlamaIndex, or a `VectorStoreIndex`, which embeds by itself.

    Vectors are read back from Chroma, LanceDB, Qdrant, `SimpleVectorStore`, and stores whose `get_nodes` returns
    embeddings; other stores embed a text again if its record changed.
    """

    def __init__(self, target: Any, embedder: Callable[[list[str]], Any] | None, index: Any = None) -> None:
        self.target = target
        self.index = index
        self.kind = target.class_name()
        module = type(target).__module__
        self.overwrites = ".qdrant" in module or self.kind == "SimpleVectorStore"
        self.embedder = embedder or (embedder_of(index._embed_model) if index is not None else None)

    def held(self, ids: list[str]) -> dict[str, Held]:
        store = self.target
        module = type(store).__module__
        if self.kind == "SimpleVectorStore":
            known = store.data.embedding_dict
            return {id_: Held(None, vector_of(known[id_])) for id_ in ids if id_ in known}
        if ".chroma" in module:
            return held_by_chroma(store._collection, ids)
        if ".lancedb" in module:
            return held_by_lance(store._table, ids, store.vector_column_name, store.text_key)
        if ".qdrant" in module and not store._collection_exists(store.collection_name):
            return {}
        try:
            nodes = store.get_nodes(ids)
        except NotImplementedError:
            return {}
        vectors = {node.node_id: node.embedding for node in nodes}
        return {
            node.node_id: Held(
                node.get_content(), None if vectors[node.node_id] is None else vector_of(vectors[node.node_id])
            )
            for node in nodes
        }

    def write(self, chunks: list[Chunk], vectors: list[Vector]) -> None:
        from .llama_index import node_of

        nodes = [node_of(chunk.dict()) for chunk in chunks]
        for node, vector in zip(nodes, vectors, strict=True):
            node.embedding = vector
        (self.target.add if self.index is None else self.index.insert_nodes)(nodes)

    def delete(self, ids: list[str]) -> None:
        if ".lancedb" in type(self.target).__module__:
            # Its `delete_nodes` puts ids into double quotes, which are names of columns to LanceDB.
            self.target.table.delete(among(ids))
        elif self.index is None:
            self.target.delete_nodes(ids)
        elif ids := list(self.held(ids)):
            # A node that is gone is an error of its index.
            self.index.delete_nodes(ids, delete_from_docstore=True)


class _Haystack(Store):
    """A `DocumentStore` of Haystack. Vectors come back with its documents; a store that leaves them out embeds again a
    text whose record changed."""

    overwrites = True

    def __init__(self, target: Any, embedder: Callable[[list[str]], Any] | None) -> None:
        self.target = target
        self.embedder = embedder

    def held(self, ids: list[str]) -> dict[str, Held]:
        with returning_embeddings(self.target):
            found = self.target.filter_documents({"field": "meta.chunk_id", "operator": "in", "value": ids})
        return {one.id: Held(one.content, None if one.embedding is None else vector_of(one.embedding)) for one in found}

    def write(self, chunks: list[Chunk], vectors: list[Vector]) -> None:
        from haystack.document_stores.types import DuplicatePolicy

        from .haystack import document_of

        pairs = zip(chunks, vectors, strict=True)
        documents = [replace(document_of(chunk.dict()), embedding=vector) for chunk, vector in pairs]
        self.target.write_documents(documents, policy=DuplicatePolicy.OVERWRITE)

    def delete(self, ids: list[str]) -> None:
        # By the protocol, a document that is gone may be an error.
        ids = list(self.held(ids))
        if ids:
            self.target.delete_documents(ids)


@contextmanager
def returning_embeddings(store: Any) -> Generator[None]:
    """A store of Haystack that gives embeddings back, as long as the context."""
    before = getattr(store, "return_embedding", None)
    if before is False:
        store.return_embedding = True
    try:
        yield
    finally:
        if before is False:
            store.return_embedding = False


def held_by_chroma(collection: Any, ids: list[str]) -> dict[str, Held]:
    """What a collection of Chroma has of ids."""
    found = collection.get(ids=ids, include=["embeddings", "documents"])
    embeddings, documents = found["embeddings"], found["documents"]
    return {
        id_: Held(documents[at] if documents else None, None if embeddings is None else vector_of(embeddings[at]))
        for at, id_ in enumerate(found["ids"])
    }


def held_by_lance(table: Any, ids: list[str], vector: str, text: str) -> dict[str, Held]:
    """What a table of LanceDB has of ids; nothing if there is none yet."""
    if table is None:
        return {}
    rows = table.search().where(among(ids)).select(["id", vector, text]).to_list()
    return {row["id"]: Held(row[text], vector_of(row[vector])) for row in rows}


def among(ids: list[str]) -> str:
    """The condition in SQL that an id is one of these."""
    return "id IN ({})".format(", ".join(f"'{id_}'" for id_ in ids))
