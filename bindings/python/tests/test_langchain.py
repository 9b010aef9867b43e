"""The adapters for LangChain, with the real packages."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.retrievers import BaseRetriever
from langchain_text_splitters import TextSplitter

import chunkwright as cw
from chunkwright.langchain import ChunkwrightRetriever, ChunkwrightSplitter, key_encoder
from stores import CASES, CORPUS, Row


def load(folder: Path, **metadata: Any) -> list[Document]:
    """What a loader of text files gives."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        Document(path.read_bytes().decode(), metadata={"source": str(path), **metadata})
        for path in paths
        if path.name != "README.md"
    ]


def test_ids_and_bytes_are_those_of_chunk() -> None:
    documents = ChunkwrightSplitter(root=CORPUS).split_documents(load(CORPUS))
    chunks = [chunk for chunk in cw.chunk(CORPUS) if chunk.doc_id != "README.md"]
    assert [(one.id, one.page_content) for one in documents] == [(chunk.chunk_id, chunk.text) for chunk in chunks]
    for one, chunk in zip(documents, chunks, strict=True):
        for key in ("chunk_id", "doc_id", "chunk_index", "total_chunks", "start_line", "end_line", "header_path"):
            assert one.metadata[key] == getattr(chunk, key)


@pytest.mark.parametrize("settings", [{}, {"max_size": 64, "min_size": 8}, {"preset": "docs"}, {"preset": "recursive"}])
def test_start_index_is_where_the_content_stands(settings: dict[str, Any]) -> None:
    loaded = load(CORPUS)
    by_source = {one.metadata["source"]: one.page_content for one in loaded}
    documents = ChunkwrightSplitter(page_content="content", **settings).split_documents(loaded)
    assert len(documents) > len(loaded)
    for one in documents:
        text = by_source[one.metadata["source"]]
        assert text[one.metadata["start_index"] : one.metadata["end_index"]] == one.page_content


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("windows.md", "\ufeff# Title\r\n\r\nOne 😀 line.\r\n\r\n## 二\r\n\r\nTwo.\r\nTwo.\r\n"),
        ("page.html", "<html><body><h1>Bees</h1><p>Feed &amp; keep 😀.</p><p>Feed &amp; keep 😀.</p></body></html>"),
        ("same.md", "# A\n\nSame.\n\n# A\n\nSame.\n\n# A\n\nSame.\n"),
        ("code.py", "def one():\n    '''Один.'''\n    return 1\n\n\ndef two():\n    return 1\n"),
        ("plain.txt", "First.\n\n\n\nSecond.\f\nThird.\x85Fourth.\u2028Fifth.\rSixth."),
        (
            "book.ipynb",
            json.dumps(
                {
                    "cells": [
                        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "Words."]},
                        {
                            "cell_type": "code",
                            "metadata": {},
                            "source": ["print('é')"],
                            "outputs": [],
                            "execution_count": 1,
                        },
                    ],
                    "metadata": {},
                    "nbformat": 4,
                    "nbformat_minor": 5,
                }
            ),
        ),
    ],
)
def test_offsets_are_right_in_every_format(name: str, text: str) -> None:
    document = Document(text, metadata={"source": name})
    parts = ChunkwrightSplitter(page_content="content", max_size=16, min_size=1).split_documents([document])
    assert parts
    for one in parts:
        assert text[one.metadata["start_index"] : one.metadata["end_index"]] == one.page_content
    places = [(one.metadata["start_index"], one.metadata["end_index"]) for one in parts]
    assert places == sorted(places) and len(set(places)) == len(places)


def test_the_format_follows_from_the_source() -> None:
    html = "<html><body><h1>Bees</h1><p>" + "Feed them. " * 200 + "</p></body></html>"
    splitter = ChunkwrightSplitter(max_size=64)
    for source in ("bees.html", "https://example.com/bees.html?day=1#top", "C:\\docs\\bees.html", "/docs/bees.HTML"):
        parts = splitter.split_documents([Document(html, metadata={"source": source})])
        assert all("Bees" in one.metadata["header_path"] for one in parts[1:]), source
    assert not ChunkwrightSplitter(name="a.txt").split_documents([Document(html)])[0].metadata["header_path"]
    assert ChunkwrightSplitter(name="a.html", max_size=64).split_text(html) == [one.page_content for one in parts]
    by_path = splitter.split_documents([Document(html, metadata={"file_path": "bees.html"})])
    assert by_path[0].metadata["doc_id"] == "bees.html"
    code = Document("def bees():\n    return 1\n", metadata={"source": "bees.py"})
    assert splitter.split_documents([code])[0].metadata["language"] == "python"


def test_documents_of_one_name_in_two_folders_have_different_ids() -> None:
    text = "# Install\n\nRun the program.\n"
    sources = ["one/README.md", "two/README.md", "two\\README.md", "../README.md", "README.md"]
    documents = [Document(text, metadata={"source": source}) for source in sources]
    parts = ChunkwrightSplitter().split_documents(documents)
    assert len({one.id for one in parts}) == len(parts) == 5
    assert [one.metadata["doc_id"] for one in parts[:3]] == ["one/README.md", "two/README.md", "two/README.md#2"]
    same = ChunkwrightSplitter().split_documents([Document(text, metadata={"source": "./one//x/../README.md"})])
    assert same[0].id == parts[0].id


def test_pages_of_one_file_have_different_ids() -> None:
    pages = [Document("Header\n\nThe same words.", metadata={"source": "book.pdf", "page": page}) for page in range(3)]
    parts = ChunkwrightSplitter().split_documents(pages)
    assert len({one.id for one in parts}) == 3
    assert [one.metadata["page"] for one in parts] == [0, 1, 2]
    assert ChunkwrightSplitter().split_documents(pages[2:])[0].id == parts[2].id


def test_nuls_and_lone_surrogates_of_pdf_readers_are_replaced() -> None:
    text = "One\0two\0three\0four\0 \ud83d half.\n\n" + "Words. " * 200
    document = Document("", metadata={"source": "book.pdf", "page": 1})
    document.page_content = text
    parts = ChunkwrightSplitter(page_content="content", max_size=64).split_documents([document])
    assert parts[0].page_content.startswith("One\ufffdtwo\ufffdthree\ufffdfour\ufffd \ufffd half.")
    for one in parts[1:]:
        assert text[one.metadata["start_index"] : one.metadata["end_index"]] == one.page_content


def test_metadata_survives_and_is_flat() -> None:
    given = {"source": "a.md", "language": "en-GB", "tags": ["x"], "start_index": 7, "title": "Bees"}
    document = Document("# Bees\n\nFeed them.\n\n" + "More. " * 400, metadata=given)
    parts = ChunkwrightSplitter(max_size=64).split_documents([document])
    assert len(parts) > 1
    for one in parts:
        assert (one.metadata["language"], one.metadata["tags"], one.metadata["title"]) == ("en-GB", ["x"], "Bees")
        assert one.metadata["tags"] is not given["tags"]
    assert parts[0].metadata["start_index"] == 0 and parts[1].metadata["start_index"] > 7
    assert given["start_index"] == 7
    (plain,) = ChunkwrightSplitter().split_documents([Document("Words.")])
    assert all(type(value) in (str, int) for value in plain.metadata.values())


def test_it_is_a_splitter_in_every_way_of_the_base_class() -> None:
    splitter = ChunkwrightSplitter(max_size=64)
    assert isinstance(splitter, TextSplitter) and isinstance(splitter, BaseDocumentTransformer)
    text = (CORPUS / "en/bread.md").read_text("utf-8")
    document = Document(text, metadata={"source": "bread.md"})
    expected = splitter.split_documents([document])
    assert list(splitter.transform_documents([document])) == expected
    assert list(asyncio.run(splitter.atransform_documents([document]))) == expected
    assert splitter.create_documents([text], [{"source": "bread.md"}]) == expected
    assert splitter.split_text(text) == [one.page_content for one in expected]
    assert splitter.split_documents(iter([])) == [] and splitter.split_text("") == []
    assert splitter.split_documents([Document(" \n", metadata={"source": "a.md"}), document]) == expected


def test_an_unknown_key_is_refused_at_once() -> None:
    with pytest.raises(cw.ChunkwrightError, match="chunk_sise"):
        ChunkwrightSplitter(chunk_sise=100)
    with pytest.raises(ValueError, match="unknown page content `body`; expected `text` or `content`"):
        ChunkwrightSplitter(page_content="body")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got 2 texts and 1 metadatas"):
        ChunkwrightSplitter().create_documents(["a", "b"], [{}])


@pytest.mark.parametrize("name", ["langchain-chroma", "langchain-qdrant", "langchain-memory"])
def test_the_indexing_api_keeps_keys_and_vectors_of_unchanged_chunks(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    folder = Path(shutil.copytree(CORPUS, tmp_path / "corpus"))
    splitter, records = ChunkwrightSplitter(root=folder), InMemoryRecordManager("test")
    records.create_schema()

    def run() -> tuple[dict[str, Row], list[str]]:
        result = index(
            splitter.split_documents(load(folder)),
            records,
            case.target,
            cleanup="full",
            source_id_key="source",
            key_encoder=key_encoder,
        )
        taken = case.embed.taken()
        assert result["num_added"] == len(taken)
        return {str(id_).replace("-", ""): row for id_, row in case.rows().items()}, taken

    first, taken = run()
    assert first.keys() == {chunk.chunk_id for chunk in cw.chunk(folder) if chunk.doc_id != "README.md"}
    assert run() == (first, [])
    path = folder / "en/bread.md"
    path.write_text(path.read_text("utf-8").replace("\n\n", "\n\nOne more line.\n\n", 1), "utf-8")
    second, taken = run()
    assert 0 < len(taken) <= 2
    assert len(first.keys() & second.keys()) >= len(first) - len(taken)


def test_a_key_of_another_splitters_document_is_refused() -> None:
    with pytest.raises(ValueError, match="has no `chunk_id` in its metadata; split it with `ChunkwrightSplitter`"):
        key_encoder(Document("words"))


@pytest.mark.parametrize("name", ["langchain-chroma", "langchain-lancedb", "langchain-qdrant"])
def test_chunks_go_into_real_stores_and_come_back(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    documents = ChunkwrightSplitter(root=CORPUS).split_documents(load(CORPUS))
    case.target.add_documents(documents, ids=[one.id for one in documents])
    rows = case.rows()
    assert {id_: row.text for id_, row in rows.items()} == {one.id: one.page_content for one in documents}
    found = case.target.similarity_search(documents[5].page_content, k=1)[0]
    assert found.page_content == documents[5].page_content and found.metadata["chunk_id"] == documents[5].id


def test_a_retriever_searches_an_index(tmp_path: Path) -> None:
    index = cw.Index(CORPUS, store=tmp_path / "store", embedder="none", progress=False)
    retriever = ChunkwrightRetriever(index, k=3)
    assert isinstance(retriever, BaseRetriever)
    found = retriever.invoke("sourdough bread")
    assert 0 < len(found) <= 3 and found[0].metadata["doc_id"] == "en/bread.md"
    assert found[0].id == found[0].metadata["chunk_id"] and found[0].metadata["score"] > 0
    assert [one.id for one in found] == [hit["chunk_id"] for hit in index.search("sourdough bread", k=3)]
    text = (CORPUS / "en/bread.md").read_text("utf-8")
    assert text[found[0].metadata["start_index"] : found[0].metadata["end_index"]] in text
    assert asyncio.run(retriever.ainvoke("sourdough bread")) == found
    assert len(retriever.invoke("sourdough bread", k=1)) == 1
    chain = retriever | (lambda documents: len(documents))
    assert chain.invoke("sourdough bread") == len(found)


def test_a_retriever_gives_the_documents_of_the_splitter(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "bees.html").write_text("<h1>Bees</h1><p>Feed &amp; keep the hives warm.</p>", "utf-8")
    shutil.copy(CORPUS / "zh/green-tea.md", folder)
    index = cw.Index(folder, store=tmp_path / "store", embedder="none", progress=False)
    split = {one.id: one for one in ChunkwrightSplitter(root=folder).split_documents(load(folder))}
    for query in ("hives", "绿茶"):
        for one in ChunkwrightRetriever(index).invoke(query):
            assert one.page_content == split[one.id].page_content
            assert {**one.metadata, **split[one.id].metadata, "source": ""} == {**one.metadata, "source": ""}
