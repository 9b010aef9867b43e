"""The adapters for Haystack, with the real packages."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

import chunkwright as cw
from chunkwright.haystack import ChunkwrightRetriever, ChunkwrightSplitter
from stores import CASES, CORPUS, vector


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.*") if path.is_file() and path.name != "README.md")


def load(folder: Path) -> list[Document]:
    """What the converter of Haystack gives for text files."""
    documents: list[Document] = TextFileToDocument(store_full_path=True).run(sources=list(files(folder)))["documents"]
    return documents


def test_ids_and_bytes_are_those_of_chunk() -> None:
    documents = ChunkwrightSplitter(root=CORPUS).run(load(CORPUS))["documents"]
    chunks = {chunk.chunk_id: chunk for chunk in cw.chunk(CORPUS) if chunk.doc_id != "README.md"}
    assert {one.id: one.content for one in documents} == {id_: chunk.text for id_, chunk in chunks.items()}
    for one in documents:
        chunk = chunks[one.id]
        assert (one.meta["doc_id"], one.meta["split_id"], one.meta["start_line"]) == (
            chunk.doc_id,
            chunk.chunk_index,
            chunk.start_line,
        )


def test_offsets_are_where_the_content_stands() -> None:
    loaded = {one.id: one for one in load(CORPUS)}
    splitter = ChunkwrightSplitter(content="content", max_size=64, min_size=8)
    parts = splitter.run(list(loaded.values()))["documents"]
    assert len(parts) > len(loaded)
    for one in parts:
        text = loaded[one.meta["source_id"]].content or ""
        assert text[one.meta["split_idx_start"] : one.meta["split_idx_end"]] == one.content


def test_meta_survives() -> None:
    given = Document(content="# Bees\n\nFeed them.", meta={"file_path": "a.md", "team": "x", "tags": ["y"]})
    (one,) = ChunkwrightSplitter().run([given])["documents"]
    assert (one.meta["team"], one.meta["tags"], one.meta["source_id"]) == ("x", ["y"], given.id)
    assert one.meta["tags"] is not given.meta["tags"]


def test_documents_without_a_source_get_different_ids() -> None:
    same = [Document(content="# Same\n\nWords.", meta={"number": number}) for number in range(3)]
    parts = ChunkwrightSplitter().run(same)["documents"]
    assert [one.meta["doc_id"] for one in parts] == ["document.md", "document.md#2", "document.md#3"]
    assert len({one.id for one in parts}) == 3


def words(text: str) -> int:
    """A counter of a user's own."""
    return len(text.split())


def test_a_component_is_written_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    # Haystack reads functions of modules that its user trusts.
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", __name__)
    splitter = ChunkwrightSplitter(name="a.html", content="content", max_size=20, min_size=1, tokenizer=words)
    document = Document(content="<h1>A</h1>" + "".join(f"<p>{'word ' * 15}</p>" for _ in range(3)))
    again = ChunkwrightSplitter.from_dict(splitter.to_dict())
    assert again.to_dict() == splitter.to_dict()
    assert again.run([document]) == splitter.run([document])
    assert len(splitter.run([document])["documents"]) == 3


def test_bad_input_is_refused() -> None:
    splitter = ChunkwrightSplitter()
    with pytest.raises(TypeError, match="must be a list of `haystack.Document`"):
        splitter.run("words")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no text in `content`; convert it before it is split"):
        splitter.run([Document(meta={"file_path": "a.md"})])
    with pytest.raises(cw.ChunkwrightError, match="chunk_sise"):
        ChunkwrightSplitter(chunk_sise=100)
    assert splitter.run([]) == {"documents": []}


@pytest.mark.parametrize("name", ["haystack-memory", "haystack-chroma", "haystack-qdrant"])
def test_a_pipeline_writes_chunks_into_real_stores(name: str, tmp_path: Path) -> None:
    from haystack import component

    @component
    class Embed:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, list[Document]]:
            return {"documents": [replace(one, embedding=vector(one.content or "")) for one in documents]}

    case = CASES[name](tmp_path)
    pipeline = Pipeline()
    pipeline.add_component("convert", TextFileToDocument(store_full_path=True))
    pipeline.add_component("split", ChunkwrightSplitter(root=CORPUS / "zh"))
    pipeline.add_component("embed", Embed())
    pipeline.add_component("write", DocumentWriter(case.target, policy=DuplicatePolicy.OVERWRITE))
    pipeline.connect("convert", "split")
    pipeline.connect("split", "embed")
    pipeline.connect("embed", "write")
    for _ in range(2):
        pipeline.run({"convert": {"sources": list(files(CORPUS / "zh"))}})
        stored = {id_: row.text for id_, row in case.rows().items()}
        assert stored == {chunk.chunk_id: chunk.text for chunk in cw.chunk(CORPUS / "zh")}


def test_a_pipeline_is_written_and_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CORPUS / "en", tmp_path / "en"))
    pipeline = Pipeline()
    pipeline.add_component("split", ChunkwrightSplitter(max_size=64))
    pipeline.add_component("write", DocumentWriter(InMemoryDocumentStore(), policy=DuplicatePolicy.OVERWRITE))
    pipeline.connect("split", "write")
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["chunkwright.haystack"])
    assert again.run({"split": {"documents": load(folder)}}) == pipeline.run({"split": {"documents": load(folder)}})


def test_a_retriever_searches_an_index(tmp_path: Path) -> None:
    index = cw.Index(CORPUS, store=tmp_path / "store", embedder="none", progress=False)
    retriever = ChunkwrightRetriever(index, k=3)
    found = retriever.run("sourdough bread")["documents"]
    assert [one.id for one in found] == [hit["chunk_id"] for hit in index.search("sourdough bread", k=3)]
    assert found[0].score and found[0].meta["doc_id"] == "en/bread.md"
    assert len(retriever.run("sourdough bread", {"k": 1})["documents"]) == 1
    assert asyncio.run(retriever.run_async("sourdough bread"))["documents"] == found
    again = ChunkwrightRetriever.from_dict(retriever.to_dict())
    assert again.run("sourdough bread")["documents"] == found
    pipeline = Pipeline()
    pipeline.add_component("search", retriever)
    assert pipeline.run({"search": {"query": "sourdough bread"}})["search"]["documents"] == found
