"""`sync(...).to(target)` with real vector stores of three frameworks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import chunkwright as cw
from chunkwright import _stores, _targets
from stores import (
    CASES,
    CORPUS,
    POSTGRES,
    Case,
    Embedder,
    OwnTarget,
    expect_equal,
    langchain_embeddings,
    llama_embeddings,
    postgres,
    vector,
)

DOCUMENTS = ("en/bread.md", "zh/steamed-bread.md", "ru/rye-bread.md", "code/backoff.py")
#: Small chunks, so that a few documents have many.
KEYS = {"max_size": 120, "min_size": 20}


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield from postgres(Path(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a document of each language."""
    folder = tmp_path / "documents"
    for name in DOCUMENTS:
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(CORPUS / name, folder / name)
    return folder


@pytest.fixture(params=[*CASES, *POSTGRES])
def make(request: pytest.FixtureRequest) -> Callable[[Path], Case]:
    """What makes a target of a kind."""
    if request.param in POSTGRES:
        address = request.getfixturevalue("database")
        return lambda folder: POSTGRES[request.param](address)
    return CASES[request.param]


@pytest.fixture
def case(make: Callable[[Path], Case], tmp_path: Path) -> Case:
    return make(tmp_path)


def texts(source: Path, **keys: Any) -> set[str]:
    return {chunk.text for chunk in cw.chunk(source, **keys)}


def test_a_first_run_embeds_each_text_once(case: Case, folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "en/bread.md", folder / "en/copy.md")
    case.sync(folder, tmp_path / "state")
    expect_equal(case, folder)
    taken = case.embed.taken()
    assert len(taken) == len(set(taken)) and set(taken) == texts(folder)
    case.sync(folder, tmp_path / "state")
    assert case.embed.taken() == []


def test_an_edit_embeds_only_the_texts_that_changed(case: Case, folder: Path, tmp_path: Path) -> None:
    case.sync(folder, tmp_path / "state", **KEYS)
    before = texts(folder, **KEYS)
    case.embed.taken()
    for name in DOCUMENTS:
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace("\n\n", "\n\n# 42\n\n", 1), "utf-8")
    case.sync(folder, tmp_path / "state", **KEYS)
    expect_equal(case, folder, **KEYS)
    taken = case.embed.taken()
    assert sorted(taken) == sorted(texts(folder, **KEYS) - before)
    assert 0 < len(taken) < len(before) / 2


def test_a_rename_embeds_nothing(case: Case, folder: Path, tmp_path: Path) -> None:
    case.sync(folder, tmp_path / "state")
    case.embed.taken()
    (folder / "new").mkdir()
    (folder / "zh/steamed-bread.md").rename(folder / "new/mantou.md")
    (folder / "ru/rye-bread.md").rename(folder / "new/хлеб.md")
    case.sync(folder, tmp_path / "state")
    expect_equal(case, folder)
    assert case.embed.taken() == []


def test_chunks_that_only_moved_embed_nothing(case: Case, folder: Path, tmp_path: Path) -> None:
    case.sync(folder, tmp_path / "state")
    case.embed.taken()
    for name in DOCUMENTS:
        (folder / name).write_text("\n\n" + (folder / name).read_text("utf-8"), "utf-8")
    case.sync(folder, tmp_path / "state")
    expect_equal(case, folder)
    assert case.embed.taken() == []


def test_a_deleted_document_is_gone_from_the_store(case: Case, folder: Path, tmp_path: Path) -> None:
    case.sync(folder, tmp_path / "state")
    case.embed.taken()
    (folder / "en/bread.md").unlink()
    case.sync(folder, tmp_path / "state")
    expect_equal(case, folder)
    shutil.rmtree(folder)
    folder.mkdir()
    case.sync(folder, tmp_path / "state")
    assert case.rows() == {} and case.embed.taken() == []


def test_an_interrupted_run_resumes_where_it_stopped(
    case: Case, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_targets, "BATCH", 8)
    case.embed.left = 2
    # LlamaIndex embeds one text a call by its own model.
    with pytest.raises(RuntimeError, match="out of service"):
        case.sync(folder, tmp_path / "state", **KEYS)
    assert not (tmp_path / "state").exists()
    case.embed.left = None
    case.embed.taken()
    stored = {row.text for row in case.rows().values()}
    # A document that the first run has begun is renamed, and another one is gone.
    (folder / "code/backoff.py").rename(folder / "retry.py")
    (folder / "en/bread.md").unlink()
    case.sync(folder, tmp_path / "state", **KEYS)
    expect_equal(case, folder, **KEYS)
    assert sorted(case.embed.taken()) == sorted(texts(folder, **KEYS) - stored)
    assert not list(tmp_path.glob(".*.pending*"))


def test_other_chunks_of_the_store_stay(folder: Path, tmp_path: Path) -> None:
    case = CASES["langchain-chroma"](tmp_path)
    case.sync(folder / "en", tmp_path / "en.state")
    case.sync(folder / "zh", tmp_path / "zh.state")
    (folder / "en/bread.md").unlink()
    case.sync(folder / "en", tmp_path / "en.state")
    expect_equal(case, folder / "zh")


class Failing(_stores.Store):
    """A store that fails after some writes and deletions."""

    def __init__(self, store: _stores.Store, left: int) -> None:
        self.store, self.left = store, left
        self.overwrites, self.held, self.embed = store.overwrites, store.held, store.embed

    def held(self, ids: list[str]) -> dict[str, _stores.Held]:
        return self.store.held(ids)

    def write(self, chunks: list[cw.Chunk], vectors: list[list[float]]) -> None:
        self.step()
        self.store.write(chunks, vectors)

    def delete(self, ids: list[str]) -> None:
        self.step()
        self.store.delete(ids)

    def step(self) -> None:
        if self.left == 0:
            raise ConnectionError("the store is not reachable")
        self.left -= 1


def failing_store(find: Callable[[Any, Any], _stores.Store], left: int, target: Any, embed: Any) -> Failing:
    return Failing(find(target, embed), left)


class History:
    """Random changes of a small folder of real documents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.files = 0
        for number in range(2):
            self.add(number)

    def names(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def one(self, number: int) -> Path | None:
        names = self.names()
        return names[number % len(names)] if names else None

    def fresh(self, suffix: str) -> Path:
        self.files += 1
        path = self.folder / ("" if self.files % 2 else "under") / f"{self.files}{suffix}"
        path.parent.mkdir(exist_ok=True)
        return path

    def add(self, number: int) -> None:
        source = CORPUS / DOCUMENTS[number % len(DOCUMENTS)]
        shutil.copy(source, self.fresh(source.suffix))

    def copy(self, number: int) -> None:
        if path := self.one(number):
            shutil.copy(path, self.fresh(path.suffix))

    def rename(self, number: int) -> None:
        if path := self.one(number):
            path.rename(self.fresh(path.suffix))

    def delete(self, number: int) -> None:
        if path := self.one(number):
            path.unlink()

    def insert(self, number: int) -> None:
        self.lines(number, lambda lines, at: [*lines[:at], "\n", f"Note {number}.\n", "\n", *lines[at:]])

    def cut(self, number: int) -> None:
        self.lines(number, lambda lines, at: lines[:at] + lines[at + 1 + number % 7 :])

    def swap(self, number: int) -> None:
        self.lines(number, lambda lines, at: lines[at:] + lines[:at])

    def twice(self, number: int) -> None:
        self.lines(number, lambda lines, at: lines + ["\n"] + lines[at : at + 20])

    def lines(self, number: int, change: Callable[[list[str], int], list[str]]) -> None:
        if path := self.one(number):
            lines = path.read_text("utf-8").splitlines(keepends=True)
            path.write_text("".join(change(lines, number // 3 % (len(lines) + 1))), "utf-8")


CHANGES = ("add", "copy", "rename", "delete", "insert", "cut", "swap", "twice")
STEPS = st.lists(
    st.tuples(st.sampled_from(CHANGES), st.integers(0, 500), st.none() | st.integers(0, 12)), min_size=1, max_size=5
)


def run_history(case: Case, folder: Path, steps: list[tuple[str, int, int | None]]) -> None:
    history = History(folder / "documents")
    state = folder / "state.jsonl"
    for change, number, failing in [("add", 0, None), *steps, ("insert", 1, None)]:
        getattr(history, change)(number)
        if failing is not None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(_targets, "store_of", partial(failing_store, _targets.store_of, failing))
                try:
                    case.sync(history.folder, state, **KEYS)
                except ConnectionError:
                    case.embed.taken()
                    continue
        else:
            stored = {row.text for row in case.rows().values()}
            case.embed.taken()
            case.sync(history.folder, state, **KEYS)
            assert sorted(case.embed.taken()) == sorted(texts(history.folder, **KEYS) - stored)
        expect_equal(case, history.folder, **KEYS)
        assert [path.name for path in folder.iterdir() if "pending" in path.name] == []


def test_after_any_history_the_store_holds_exactly_the_chunks_of_the_documents(
    make: Callable[[Path], Case], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_targets, "BATCH", 16)
    # Stores in memory are fast enough for more.
    is_fast = request.node.callspec.params["make"] in ("own", "langchain-memory", "llama-memory", "haystack-memory")

    @settings(
        max_examples=12 if is_fast else 2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(STEPS)
    @example([("rename", 0, 3), ("rename", 0, None), ("delete", 1, 2)])
    @example([("copy", 0, None), ("delete", 0, 1), ("rename", 1, 1), ("copy", 2, None)])
    @example([("insert", 40, 0), ("swap", 40, 1), ("twice", 40, 2), ("cut", 40, 1)])
    def holds(steps: list[tuple[str, int, int | None]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run_history(make(Path(folder)), Path(folder), steps)

    holds()


def test_after_the_state_is_deleted_everything_is_embedded_again(folder: Path, tmp_path: Path) -> None:
    case = CASES["langchain-lancedb"](tmp_path)
    case.sync(folder, tmp_path / "state")
    case.embed.taken()
    (tmp_path / "state").unlink()
    case.sync(folder, tmp_path / "state")
    assert set(case.embed.taken()) == texts(folder)
    expect_equal(case, folder)


def test_a_store_without_stored_vectors_embeds_renamed_chunks_again(folder: Path, tmp_path: Path) -> None:
    class Opaque(OwnTarget):
        vectors = None  # type: ignore[assignment]

    embed, target = Embedder(), Opaque()
    shutil.copy(folder / "en/bread.md", folder / "en/copy.md")
    cw.sync(folder, state=tmp_path / "state").to(target, embed)
    assert sorted(embed.taken()) == sorted(texts(folder))
    (folder / "zh/steamed-bread.md").rename(folder / "zh/mantou.md")
    cw.sync(folder, state=tmp_path / "state").to(target, embed)
    assert set(embed.taken()) == texts(folder / "zh")
    assert set(target.chunks) == {chunk.chunk_id for chunk in cw.chunk(folder)}


def test_a_store_of_an_unknown_kind_holds_no_chunk_twice(folder: Path, tmp_path: Path) -> None:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

    class Appending(VectorStore):
        """Adds a document twice if its id exists, as some stores do."""

        def __init__(self, embedding: Any) -> None:
            self.embedding, self.documents = embedding, list[tuple[Document, list[float]]]()

        def add_texts(self, texts: Any, metadatas: Any = None, *, ids: Any = None, **kwargs: Any) -> list[str]:
            vectors = self.embedding.embed_documents(list(texts))
            documents = [Document(*each) for each in zip(texts)]
            for document, id_, metadata in zip(documents, ids, metadatas, strict=True):
                document.id, document.metadata = id_, metadata
            self.documents += zip(documents, vectors, strict=True)
            return list(ids)

        def get_by_ids(self, ids: Any, /) -> list[Document]:
            return [document for document, _ in self.documents if document.id in ids]

        def delete(self, ids: Any = None, **kwargs: Any) -> None:
            assert {document.id for document, _ in self.documents} >= set(ids), "it has no such document"
            self.documents = [pair for pair in self.documents if pair[0].id not in ids]

        def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
            raise NotImplementedError

        @classmethod
        def from_texts(cls, texts: Any, embedding: Any, metadatas: Any = None, **kwargs: Any) -> Appending:
            raise NotImplementedError

    embed = Embedder()
    store = Appending(langchain_embeddings(embed))

    def sync(**keys: Any) -> list[str]:
        cw.sync(folder, state=tmp_path / "state").to(store)
        fresh = {chunk.chunk_id: chunk for chunk in cw.chunk(folder)}
        assert sorted(document.id or "" for document, _ in store.documents) == sorted(fresh)
        assert all(found == vector(fresh[document.id or ""].text) for document, found in store.documents)
        return embed.taken()

    assert len(sync()) == len(texts(folder))
    path = folder / "zh/steamed-bread.md"
    path.write_text("\n" + path.read_text("utf-8"), "utf-8")
    # The lines of this document changed, and its vectors are not given back.
    assert set(sync()) == texts(folder / "zh")
    path.unlink()
    assert sync() == []


def test_a_killed_run_resumes_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import chunkwright as cw
from chunkwright import _stores, _targets
from pathlib import Path
from stores import CASES, vector
_targets.BATCH = 4
case = CASES["langchain-lancedb"](Path({str(tmp_path)!r}))
calls = []
def embed(texts):
    calls.append(1)
    if len(calls) == 3:
        os._exit(9)
    return [vector(text) for text in texts]
cw.sync({str(folder)!r}, state={str(tmp_path / "state")!r}).to(case.target, embed)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 9
    case = CASES["langchain-lancedb"](tmp_path)
    stored = {row.text for row in case.rows().values()}
    assert len(stored) == 8 and not (tmp_path / "state").exists()
    case.sync(folder, tmp_path / "state")
    expect_equal(case, folder)
    assert sorted(case.embed.taken()) == sorted(texts(folder) - stored)


def test_the_journal_is_not_read_as_a_document(folder: Path) -> None:
    embed, target = Embedder(), OwnTarget()
    embed.left = 0
    state = folder / "chunks.state"
    with pytest.raises(RuntimeError):
        cw.sync(folder, state=state, hidden=True).to(target, embed)
    assert (folder / ".chunks.state.pending").exists()
    embed.left = None
    cw.sync(folder, state=state, hidden=True).to(target, embed)
    assert {chunk.doc_id for chunk, _ in target.chunks.values()} == set(DOCUMENTS)


def test_the_embeddings_of_a_store_are_its_own_after_a_sync(folder: Path, tmp_path: Path) -> None:
    case = CASES["langchain-chroma"](tmp_path)
    own = case.target.embeddings
    case.sync(folder, tmp_path / "state")
    assert case.target.embeddings is own
    text = next(iter(case.rows().values())).text
    assert case.target.similarity_search(text, k=1)[0].page_content == text


@pytest.mark.parametrize("kind", ["function", "langchain", "llama", "haystack", "encode"])
def test_vectors_come_from_a_function_or_an_embedder_of_any_framework(kind: str, folder: Path, tmp_path: Path) -> None:
    import numpy
    from haystack import Document, component

    @component
    class DocumentEmbedder:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, list[Document]]:
            return {"documents": [replace(one, embedding=vector(one.content or "")) for one in documents]}

    class Encoder:
        def encode(self, texts: list[str]) -> Any:
            return numpy.array([vector(text) for text in texts])

    embeds: dict[str, Any] = {
        "function": Embedder(),
        "langchain": langchain_embeddings(Embedder()),
        "llama": llama_embeddings(Embedder()),
        "haystack": DocumentEmbedder(),
        "encode": Encoder(),
    }
    target = OwnTarget()
    cw.sync(folder, state=tmp_path / "state").to(target, embeds[kind])
    assert all(found == pytest.approx(vector(chunk.text)) for chunk, found in target.chunks.values())


def test_an_unsupported_target_is_refused_with_the_supported_ones(folder: Path, tmp_path: Path) -> None:
    import chromadb

    plan = cw.sync(folder, state=tmp_path / "state")
    with pytest.raises(TypeError, match=r"`builtins.dict` cannot be a target; expected a vector store of LangChain"):
        plan.to({}, Embedder())
    with pytest.raises(TypeError, match="is a database client; expected the vector store of LangChain"):
        plan.to(chromadb.EphemeralClient().get_or_create_collection("raw"), Embedder())
    with pytest.raises(ValueError, match="does not embed texts; give `embed`"):
        plan.to(OwnTarget())
    with pytest.raises(TypeError, match="`embed` is a `int`; expected a function"):
        plan.to(OwnTarget(), 5)
    with pytest.raises(ValueError, match=r"returned 1 vectors for \d+ texts"):
        plan.to(OwnTarget(), lambda texts: [vector(texts[0])])
    assert not (tmp_path / "state").exists()


def test_importing_the_package_imports_no_framework(tmp_path: Path) -> None:
    code = (
        "import sys, chunkwright as cw\n"
        "class Target:\n"
        "    def upsert(self, chunks, vectors): pass\n"
        "    def delete(self, ids): pass\n"
        f"s = cw.sync({str(CORPUS / 'en')!r}, state={str(tmp_path / 'state')!r})\n"
        "s.to(Target(), lambda texts: [[0.0]] * len(texts))\n"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('langchain_core', 'llama_index', 'haystack', 'chromadb', 'lancedb', 'qdrant_client')])\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("module", "framework", "command"),
    [
        ("langchain", "langchain_core", "pip install langchain-core langchain-text-splitters"),
        ("llama_index", "llama_index", "pip install llama-index-core"),
        ("haystack", "haystack", "pip install haystack-ai"),
    ],
)
def test_a_missing_framework_raises_with_the_command_that_installs_it(
    module: str, framework: str, command: str
) -> None:
    code = f"import sys; sys.modules[{framework!r}] = None; import chunkwright.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and f"install it with `{command}`" in done.stderr
