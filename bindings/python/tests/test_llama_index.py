"""The adapters for LlamaIndex, with the real packages."""

from __future__ import annotations

import asyncio
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import NodeParser
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import BaseNode, Document, MetadataMode, NodeRelationship, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore

import chunkwright as cw
from chunkwright.llama_index import ChunkwrightNodeParser, ChunkwrightRetriever
from stores import CASES, CORPUS, Embedder, chroma, llama_embeddings, rows_of_chroma


def load(folder: Path) -> list[Document]:
    """What the reader of LlamaIndex gives for text files."""
    return SimpleDirectoryReader(str(folder), recursive=True, filename_as_id=True, exclude=["README.md"]).load_data()


def text_nodes(nodes: list[BaseNode]) -> list[TextNode]:
    assert all(isinstance(node, TextNode) for node in nodes)
    return nodes  # type: ignore[return-value]


def test_ids_and_bytes_are_those_of_chunk() -> None:
    nodes = text_nodes(ChunkwrightNodeParser(root=CORPUS).get_nodes_from_documents(load(CORPUS)))
    chunks = {chunk.chunk_id: chunk for chunk in cw.chunk(CORPUS) if chunk.doc_id != "README.md"}
    assert len(nodes) == len(chunks)
    for node in nodes:
        chunk = chunks[node.node_id]
        assert node.text == chunk.text == node.get_content(MetadataMode.EMBED)
        assert (node.start_char_idx, node.end_char_idx) == (chunk.start_char, chunk.end_char)
        assert node.metadata["doc_id"] == chunk.doc_id and node.metadata["start_line"] == chunk.start_line


def test_offsets_are_where_the_content_stands() -> None:
    documents = {document.id_: document for document in load(CORPUS)}
    parser = ChunkwrightNodeParser(text="content", max_size=64, min_size=8)
    for node in text_nodes(parser.get_nodes_from_documents(list(documents.values()))):
        source = documents[node.ref_doc_id or ""]
        assert source.text[node.start_char_idx : node.end_char_idx] == node.text


def test_relationships_lead_through_the_document() -> None:
    document = Document(
        text=(CORPUS / "en/bread.md").read_text("utf-8"),
        id_="bread",
        metadata={"file_path": "en/bread.md", "team": "kitchen"},
    )
    nodes = text_nodes(ChunkwrightNodeParser(max_size=64, min_size=8).get_nodes_from_documents([document]))
    assert [node.ref_doc_id for node in nodes] == ["bread"] * len(nodes)
    assert [node.prev_node and node.prev_node.node_id for node in nodes] == [
        None,
        *(node.node_id for node in nodes[:-1]),
    ]
    assert [node.next_node and node.next_node.node_id for node in nodes] == [
        *(node.node_id for node in nodes[1:]),
        None,
    ]
    parents = [node.parent_node.node_id for node in nodes if node.parent_node]
    assert parents and all(parent.startswith("en/bread.md#L") for parent in parents)
    assert all(node.metadata["team"] == "kitchen" for node in nodes)
    source = nodes[0].source_node
    assert source is not None and source.metadata["team"] == "kitchen"


def test_metadata_is_not_embedded_and_models_see_only_that_of_the_document() -> None:
    document = Document(
        text="# Bees\n\nFeed them.",
        metadata={"file_path": "a.md", "team": "x", "secret": 1},
        excluded_llm_metadata_keys=["secret"],
    )
    (node,) = text_nodes(ChunkwrightNodeParser().get_nodes_from_documents([document]))
    assert node.get_content(MetadataMode.EMBED) == node.text
    assert node.get_content(MetadataMode.LLM).splitlines()[:2] == ["file_path: a.md", "team: x"]
    assert "secret" not in node.get_content(MetadataMode.LLM)


def test_parents_are_nodes_that_hold_their_children() -> None:
    documents = {document.id_: document for document in load(CORPUS / "en")}
    parser = ChunkwrightNodeParser(root=CORPUS, include_parents=True, max_size=64, min_size=8)
    nodes = text_nodes(parser.get_nodes_from_documents(list(documents.values())))
    by_id = {node.node_id: node for node in nodes}
    leaves = [node for node in nodes if not node.child_nodes]
    parents = [node for node in nodes if node.child_nodes]
    assert {leaf.node_id for leaf in leaves} == {
        node.node_id
        for node in ChunkwrightNodeParser(root=CORPUS, max_size=64, min_size=8).get_nodes_from_documents(
            load(CORPUS / "en")
        )
    }
    assert parents
    for parent in parents:
        text = documents[parent.ref_doc_id or ""].text
        assert text[parent.start_char_idx : parent.end_char_idx] == parent.text
        for child in parent.child_nodes or []:
            leaf = by_id[child.node_id]
            assert leaf.parent_node and leaf.parent_node.node_id == parent.node_id
            assert parent.start_char_idx <= leaf.start_char_idx and leaf.end_char_idx <= parent.end_char_idx  # type: ignore[operator]


def test_the_auto_merging_retriever_merges_chunks_into_their_section() -> None:
    text = (
        "# Hives\n\n"
        + "\n\n".join(f"Hive {number} is fed on day {number}. " * 8 for number in range(4))
        + "\n\n# Other\n\nWords.\n"
    )
    parser = ChunkwrightNodeParser(include_parents=True, max_size=120, min_size=60)
    nodes = parser.get_nodes_from_documents([Document(text=text, metadata={"file_path": "a.md"})])
    storage = StorageContext.from_defaults(docstore=SimpleDocumentStore())
    storage.docstore.add_documents(nodes)
    leaves = [node for node in nodes if not node.child_nodes]
    index = VectorStoreIndex(leaves, storage_context=storage, embed_model=llama_embeddings(Embedder()))
    found = AutoMergingRetriever(index.as_retriever(similarity_top_k=len(leaves)), storage).retrieve("hives")
    assert any("Hive 0" in one.text and "Hive 3" in one.text for one in found)


@pytest.mark.parametrize("strategy", list(DocstoreStrategy))
def test_docstore_strategies_run_only_what_changed(strategy: DocstoreStrategy, tmp_path: Path) -> None:
    from llama_index.vector_stores.chroma import ChromaVectorStore

    folder = Path(shutil.copytree(CORPUS, tmp_path / "corpus"))
    embed, collection, docstore = Embedder(), chroma(), SimpleDocumentStore()

    def run() -> list[str]:
        pipeline = IngestionPipeline(
            transformations=[ChunkwrightNodeParser(root=folder), llama_embeddings(embed)],
            docstore=docstore,
            docstore_strategy=strategy,
            vector_store=ChromaVectorStore(collection),
            disable_cache=True,
        )
        documents = load(folder)
        for document in documents:
            # Times of a file are not content.
            for key in ("last_modified_date", "creation_date"):
                document.metadata.pop(key, None)
        pipeline.run(documents=documents)
        return embed.taken()

    run()
    chunks = {chunk.chunk_id: chunk.text for chunk in cw.chunk(folder) if chunk.doc_id != "README.md"}
    assert {id_: row.text for id_, row in rows_of_chroma(collection).items()} == chunks
    assert run() == []
    path = folder / "en/bread.md"
    path.write_text(path.read_text("utf-8").replace("\n\n", "\n\nOne more line.\n\n", 1), "utf-8")
    (folder / "ru/stove.md").unlink()
    taken = run()
    edited = [chunk.text for chunk in cw.chunk(folder) if chunk.doc_id == "en/bread.md"]
    assert set(taken) <= set(edited) and taken
    after = {chunk.chunk_id for chunk in cw.chunk(folder) if chunk.doc_id != "README.md"}
    stored = rows_of_chroma(collection).keys()
    if strategy == DocstoreStrategy.UPSERTS_AND_DELETE:
        assert stored == after
    else:
        assert after <= stored


def test_a_parser_is_written_and_read_and_pickled() -> None:
    parser = ChunkwrightNodeParser(max_size=64, name="a.html", root="docs", text="content", include_prev_next_rel=False)
    document = Document(text="<h1>A</h1><p>Words.</p>")
    expected = [node.text for node in text_nodes(parser.get_nodes_from_documents([document]))]
    for other in (
        ChunkwrightNodeParser.from_dict(parser.to_dict()),
        ChunkwrightNodeParser.from_json(parser.to_json()),
        pickle.loads(pickle.dumps(parser)),
        parser.model_copy(),
    ):
        assert isinstance(other, NodeParser) and other.settings == {"max_size": 64} and other.root == "docs"
        nodes = text_nodes(other.get_nodes_from_documents([document]))
        assert [node.text for node in nodes] == expected
        assert NodeRelationship.NEXT not in nodes[0].relationships


def test_other_ways_of_the_base_class_give_the_same() -> None:
    documents = load(CORPUS / "zh")
    parser = ChunkwrightNodeParser()
    expected = parser.get_nodes_from_documents(documents)
    assert parser(documents) == expected
    assert asyncio.run(parser.aget_nodes_from_documents(documents)) == expected
    assert asyncio.run(parser.acall(documents)) == expected
    assert parser.get_nodes_from_documents([]) == []
    bare = text_nodes(ChunkwrightNodeParser(include_metadata=False).get_nodes_from_documents(documents))
    assert [node.text for node in bare] == [node.text for node in text_nodes(expected)]
    assert "file_size" not in bare[0].metadata and "file_size" in expected[0].metadata


def test_documents_without_a_source_are_named_by_their_ids() -> None:
    documents = [Document(text="# Same\n\nWords.", id_=name) for name in ("one", "two")]
    nodes = ChunkwrightNodeParser().get_nodes_from_documents(documents)
    assert [node.metadata["doc_id"] for node in nodes] == ["one", "two"]
    assert nodes[0].node_id != nodes[1].node_id
    assert nodes[0].metadata["header_path"] == "H1 Same"


def test_an_unknown_key_is_refused_at_once() -> None:
    with pytest.raises(cw.ChunkwrightError, match="chunk_sise"):
        ChunkwrightNodeParser(chunk_sise=100)


@pytest.mark.parametrize("name", ["llama-chroma", "llama-qdrant", "llama-lancedb"])
def test_nodes_go_into_real_stores_and_come_back(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    nodes = ChunkwrightNodeParser(root=CORPUS).get_nodes_from_documents(load(CORPUS))
    index = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=case.target),
        embed_model=llama_embeddings(case.embed),
    )
    taken = case.embed.taken()
    assert sorted(taken) == sorted(node.text for node in text_nodes(nodes))
    found = index.as_retriever(similarity_top_k=1).retrieve(taken[7])[0].node
    assert isinstance(found, TextNode) and found.text == taken[7]
    original = next(node for node in text_nodes(nodes) if node.node_id == found.node_id)
    assert (found.start_char_idx, found.end_char_idx) == (original.start_char_idx, original.end_char_idx)
    assert found.relationships.keys() == original.relationships.keys()


def test_a_retriever_searches_an_index(tmp_path: Path) -> None:
    index = cw.Index(CORPUS, store=tmp_path / "store", embedder="none", progress=False)
    retriever = ChunkwrightRetriever(index, k=3)
    found = retriever.retrieve("sourdough bread")
    assert [one.node_id for one in found] == [hit["chunk_id"] for hit in index.search("sourdough bread", k=3)]
    assert found[0].score and found[0].metadata["doc_id"] == "en/bread.md"
    again: Any = asyncio.run(retriever.aretrieve("sourdough bread"))
    assert [one.node_id for one in again] == [one.node_id for one in found]
