"""Chunks: the same as those of the command, immutable, with every field of their records, and as tables."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chunkwright as cw
from conftest import CORPUS


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "chunkwright", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "keys",
    [{}, {"max_size": 128}, {"preset": "stable"}, {"preset": "code", "tokenizer": "cl100k"}, {"unit": "chars"}],
    ids=str,
)
def test_chunks_are_those_of_the_command(keys: dict[str, object]) -> None:
    flags = [part for name, value in keys.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    printed = command("chunk", CORPUS, "--format", "jsonl", *flags)
    assert printed.returncode == 0, printed.stderr
    records = [json.loads(line) for line in printed.stdout.splitlines()]
    assert cw.chunk(CORPUS, **keys).dicts() == records


def test_a_file_bytes_and_text_of_one_name_have_equal_chunks() -> None:
    for path in (CORPUS / "zh" / "green-tea.md", CORPUS / "ru" / "stove.md", CORPUS / "code" / "tides.py"):
        of_path = cw.chunk(path, max_size=64)
        assert len(of_path) > 1
        assert list(cw.chunk(path.read_bytes(), name=path.name, max_size=64)) == list(of_path)
        assert list(cw.chunk_text(path.read_text(), name=path.name, max_size=64)) == list(of_path)
        assert list(cw.chunk(str(path), max_size=64)) == list(of_path)


def test_every_character_is_in_a_chunk_and_offsets_are_those_of_python() -> None:
    for path in sorted(CORPUS.rglob("*.md")):
        source = path.read_text()
        left = list(source)
        for chunk in cw.chunk(path, max_size=64):
            assert source[chunk.start_char : chunk.end_char] == chunk.content
            page = re.sub(r"\A---\n.*?\n---\n+", "", chunk.content, flags=re.DOTALL)
            assert chunk.text.endswith(page.rstrip("\n")) or chunk.context
            for at in range(chunk.start_char, chunk.end_char):
                left[at] = " "
        assert not "".join(left).strip(), path


def test_a_chunk_has_the_fields_of_its_record_and_does_not_change() -> None:
    chunk = cw.chunk(CORPUS / "code" / "tides.py", max_size=64)[1]
    for name, value in chunk.dict().items():
        assert getattr(chunk, name) == value
    # What the record lacks is `None`, and what no record has is an error that names the others.
    assert chunk.artifact is None
    with pytest.raises(AttributeError, match="a chunk has no field `no_such`; it has chunk_id, "):
        chunk.no_such  # noqa: B018
    with pytest.raises(AttributeError):
        chunk.text = "other"
    chunk.section_path.append("other")
    assert "other" not in chunk.section_path
    assert chunk == pickle.loads(pickle.dumps(chunk)) and len({chunk, pickle.loads(pickle.dumps(chunk))}) == 1
    assert "tides.py" in repr(chunk)


def test_chunks_are_a_sequence() -> None:
    chunks = cw.chunk(CORPUS, max_size=64)
    assert len(chunks) == len(list(chunks)) == len(chunks.dicts()) == len(chunks.texts)
    assert chunks[-1] == list(chunks)[-1] and list(chunks[2:9:3]) == list(chunks)[2:9:3]
    assert list(chunks[::-1]) == list(chunks)[::-1]
    with pytest.raises(IndexError):
        chunks[len(chunks)]
    assert "chunks of" in repr(chunks)


def test_html_without_a_name_of_a_file_is_cut_by_the_name_that_is_given() -> None:
    html = "<html><body><h1>Bees</h1><p>They fly.</p><h2>Feeding</h2><p>Sugar.</p></body></html>"
    chunks = cw.chunk_text(html, name="bees.html")
    assert "<p>" not in chunks[0].text and "Bees" in chunks[0].text


def test_errors_are_of_the_class_of_their_code_and_say_what_would_be_right() -> None:
    with pytest.raises(cw.SettingsError) as unknown:
        cw.chunk_text("a", max_sise=5)  # type: ignore[call-arg]
    assert unknown.value.code == "invalid_settings" and "max_size" in str(unknown.value)
    with pytest.raises(cw.SettingsError, match="it must be at least `8`"):
        cw.chunk_text("a", max_size=4)
    with pytest.raises(cw.RequestError, match="does not exist"):
        cw.chunk("no/such/file.md")
    with pytest.raises(cw.RequestError, match="give `name`"):
        cw.chunk(b"# A")
    with pytest.raises(TypeError, match="expected a path"):
        cw.chunk(7)  # type: ignore[arg-type]
    with pytest.raises(cw.RequestError, match="lines 1 to"):
        cw.explain(CORPUS / "en" / "bread.md", line=100_000)
    assert issubclass(cw.SettingsError, cw.ChunkwrightError)


def test_the_name_of_a_chunk_in_a_folder_is_its_path() -> None:
    names = {chunk.doc_id for chunk in cw.chunk(CORPUS)}
    assert {"en/bread.md", "zh/green-tea.md", "ru/stove.md", "code/tides.py"} <= names


def test_options_of_files_select_documents() -> None:
    names = {chunk.doc_id for chunk in cw.chunk(CORPUS, include="*.py")}
    assert names and all(name.endswith(".py") for name in names)


def test_tables_have_the_fields_of_the_records(tmp_path: Path) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    chunks = cw.chunk(CORPUS, max_size=64)
    ids = [chunk.chunk_id for chunk in chunks]
    assert list(chunks.to_pandas()["chunk_id"]) == ids
    import pyarrow.parquet

    arrow = chunks.to_arrow()
    assert arrow["chunk_id"].to_pylist() == ids and arrow["start_line"].type == pyarrow.uint32()
    assert chunks.to_polars()["chunk_id"].to_list() == ids
    assert isinstance(chunks.to_pandas(), pandas.DataFrame) and isinstance(chunks.to_polars(), polars.DataFrame)
    found = duckdb.sql("select count(*), max(token_count) from arrow").fetchall()[0]
    assert found == (len(ids), max(chunk.token_count for chunk in chunks))
    chunks.to_parquet(tmp_path / "c.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "c.parquet").to_pylist() == arrow.to_pylist()
    chunks.to_csv(tmp_path / "c.csv")
    assert list(pandas.read_csv(tmp_path / "c.csv")["chunk_id"]) == ids


def test_texts_of_a_table_are_cut_whatever_library_it_is_of() -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    rows = {
        "path": ["a.md", "b.py", "c.md"],
        "body": ["# A\n\nOne.\n", "def f():\n    return 1\n", None],
    }
    expected = cw.chunk_text(rows["body"][0], name="a.md").dicts() + cw.chunk_text(rows["body"][1], name="b.py").dicts()
    arrow = pyarrow.table(rows)
    for frame in (arrow, arrow.to_batches()[0], polars.DataFrame(rows), pandas.DataFrame(rows), duckdb.sql("from arrow")):
        assert cw.chunk_arrow(frame, text="body", name="path").dicts() == expected, type(frame)
    with pytest.raises(cw.RequestError, match="the table has no column `text`; it has `path`, `body`"):
        cw.chunk_arrow(arrow)


def test_explanations_outlines_and_statistics_are_those_of_the_engine() -> None:
    bread = CORPUS / "en" / "bread.md"
    (explained,) = cw.explain(bread, line=3, max_size=64)
    assert explained.begins and explained.ends and explained.start_line <= 3 <= explained.end_line
    assert cw.outline(bread)[0].kind == "document"
    statistics = cw.stats(CORPUS)
    assert statistics.violations == [] and statistics.chunks == len(cw.chunk(CORPUS))
    preview = cw.preview("# A\n\nOne.\n")
    assert preview.chunks[0].content.startswith("# A") and len(preview.explanations) == len(preview.chunks)


def test_a_comparison_names_what_has_to_be_embedded_again(corpus: Path) -> None:
    bread = corpus / "en" / "bread.md"
    old = bread.read_text()
    changed = cw.diff(old.encode(), old.replace("Flour", "Rye flour", 1).encode(), name="bread.md", max_size=64)
    assert changed.summary.changed == 1 and changed.summary.kept > 0


def test_a_pdf_is_converted_in_a_process_of_its_own(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.7\n1 0 obj << /Type /Catalog >>\n%%EOF")
    with pytest.raises(cw.RequestError, match="damaged.pdf"):
        cw.chunk(damaged)


def test_the_command_is_the_same_by_both_names() -> None:
    help_text = command("--help")
    assert help_text.returncode == 0 and "Usage: chunkwright" in help_text.stdout
    assert command("chunk", "no/such/file").returncode == 2
    version = command("--version")
    assert version.stdout.split()[1] == cw.__version__
