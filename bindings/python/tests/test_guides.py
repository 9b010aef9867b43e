"""The guide, the examples of docstrings and the notebooks do what they say."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import chunkwright as cw
from conftest import CORPUS, REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bindings" / "python"))

GUIDE = REPOSITORY / "docs" / "python.md"
NOTEBOOKS = sorted((REPOSITORY / "bindings" / "python" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the guide describes it."""
    shutil.copytree(CORPUS, tmp_path / "docs")
    shutil.copy(REPOSITORY / "examples" / "questions.jsonl", tmp_path / "questions.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: str) -> Iterator[tuple[int, str]]:
    """The blocks of Python of a page, each with the line before it."""
    for match in re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        yield page[: match.start(1)].count("\n"), match[1]


def run(line: int, code: str, path: Path, names: dict[str, Any]) -> None:
    """Runs code whose errors name its lines in a file."""
    exec(compile("\n" * line + code, str(path), "exec"), names)


def test_every_block_of_the_guide_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    for line, code in blocks(GUIDE.read_text()):
        run(line, code, GUIDE, names)
    # What the blocks show is what their texts say.
    printed = capsys.readouterr().out
    assert "beekeeping.md" in printed and "http://127.0.0.1:" in printed and "invalid_settings" in printed
    assert len(names["database"]) == len(cw.chunk("docs"))


def test_the_tables_of_the_guide_are_those_of_the_engine() -> None:
    import docs

    page = GUIDE.read_text()
    assert docs.written(page) == page, "run `python docs.py`"
    for name in dir(cw.chunk_text("a", name="a.md")[0]):
        if not name.startswith("_") and name not in ("dict", "from_dict"):
            assert f"\n| `{name}` |" in page
    for name, key in cw.keys()["properties"].items():
        assert "x-group" not in key or f"\n| `{name}` |" in page


def examples() -> list[Any]:
    """The indented blocks of the docstrings of the package."""
    found = []
    for path in sorted(Path(cw.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            indent = " " * (4 if isinstance(node, ast.Module) else node.col_offset + 8)
            text = ast.get_docstring(node, clean=False) or ""
            block = rf"(?:^|\n\n)((?:(?:{indent}.*)?\n)*{indent}.*)(?=\n|$)"
            for number, match in enumerate(re.finditer(block, text)):
                name = f"{path.stem}.{getattr(node, 'name', 'module')}.{number}"
                found.append(pytest.param(path.stem, textwrap.dedent(match[1]).strip(), id=name))
    return found


class Loader:
    """A loader of LangChain."""

    def load(self) -> list[Any]:
        from langchain_core.documents import Document

        return [
            Document(path.read_text(), metadata={"source": str(path)}) for path in sorted(Path("docs/en").glob("*.md"))
        ]


class Target:
    """A database of vectors that keeps them in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}

    def upsert(self, chunks: list[cw.Chunk], vectors: list[Any]) -> None:
        self.rows.update((chunk.chunk_id, vector) for chunk, vector in zip(chunks, vectors, strict=True))

    def delete(self, ids: list[str]) -> None:
        for one in ids:
            del self.rows[one]

    def vectors(self, ids: list[str]) -> dict[str, Any]:
        return {one: self.rows[one] for one in ids if one in self.rows}


def surroundings(module: str, example: str) -> dict[str, Any]:
    """What the reader of an example in the docstrings of a module has."""
    names: dict[str, Any] = dict(vars(importlib.import_module(f"chunkwright.{module}")))
    names |= {"cw": cw, "loader": Loader(), "target": Target(), "my_splitter": lambda text: text.split("\n\n")}
    exec(next(code for _, code in blocks(GUIDE.read_text()) if "def embed(" in code), names)
    documents = Loader().load()
    if module == "llama_index":
        from llama_index.core import Document as LlamaDocument

        names["documents"] = [LlamaDocument(text=one.page_content, id_=one.metadata["source"]) for one in documents]
    elif module == "haystack":
        from haystack import Document as HaystackDocument

        names["documents"] = [HaystackDocument(content=one.page_content, meta=one.metadata) for one in documents]
    if "record_manager" in example:
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.indexing import InMemoryRecordManager, index
        from langchain_core.vectorstores import InMemoryVectorStore

        names["chunks"] = names["ChunkwrightSplitter"]().split_documents(documents)
        names["index"], names["store"] = index, InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        names["record_manager"] = InMemoryRecordManager("docs")
        names["record_manager"].create_schema()
    elif "(index" in example:
        names["index"] = cw.Index("docs", store="index")
    return names


@pytest.mark.parametrize(("module", "example"), examples())
def test_every_example_of_a_docstring_runs(module: str, example: str, folder: Path) -> None:
    # A function stands in for a model, which need not be installed.
    example = example.replace('embedder="e5"', "embedder=embed")
    run(0, example, Path("example"), surroundings(module, example))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_stored_without_outputs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    assert all(
        cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    resources = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert shown and all(output.output_type != "error" for output in shown)
    told = [output.text for output in shown if output.get("name") == "stderr"]
    assert not [text for text in told if "Warning" in text or "Error" in text], told


def test_there_are_five_notebooks() -> None:
    assert len(NOTEBOOKS) == 5
