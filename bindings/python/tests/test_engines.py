"""Daft, Ray and Spark: the rows of one process, every document accounted for, texts embedded once, changes by joins."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

import chunkwright as cw
from chunkwright import _tables, _vectors
from conftest import REPOSITORY, toy_vectors
from engines import Daft, engines, ordered

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

STARTED: dict[type[Daft], Daft] = {}


@pytest.fixture(params=engines())
def engine(request: pytest.FixtureRequest) -> Daft:
    """An engine, which is started once."""
    if request.param not in STARTED:
        STARTED[request.param] = request.param()
    return STARTED[request.param]


@pytest.fixture
def poisoned(corpus: Path) -> Path:
    """Documents, some of which have no chunks."""
    for name, content in {
        "a b.md": b"# Space\n\nText.\n",
        "100%25.md": b"# Percent\n\nText.\n",
        "\u00fcn\u00ef/\u00e9#1.md": b"# Accents\n\nText.\n",
        "latin.md": "# Caf\u00e9\n\nD\u00e9j\u00e0 vu.\n".encode("latin-1"),
        "line.md": b"word " * 100_000,
        "empty.md": b"",
        "blank.md": b" \n\n\t\n",
        "binary.md": bytes(range(256)) * 9,
        "broken.pdf": b"%PDF-1.4 and no more",
        "broken.docx": b"PK\x03\x04",
        "Cargo.lock": b"[[package]]\nname = 'a'\n",
        "id.pem": b"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n",
    }.items():
        path = corpus / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return corpus


#: What becomes of the documents without chunks.
OTHERS = {
    "empty.md": ("empty", "it has no text"),
    "blank.md": ("empty", "it has no text"),
    "binary.md": ("left_out", "binary"),
    "Cargo.lock": ("left_out", "lock_file"),
    "id.pem": ("left_out", "secret"),
    "broken.pdf": ("failed", "`broken.pdf` was not read: it is damaged or not a `pdf` file"),
    "broken.docx": ("failed", "`broken.docx` was not read: it is damaged or not a `docx` file"),
}


def one_process(folder: Path) -> Any:
    """The rows of a loop over files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    documents = (_tables.Document(path.relative_to(folder).as_posix(), path.read_bytes()) for path in files)
    return ordered(pyarrow.concat_tables(_tables.cut(documents, {}, files=True)))


def chunks_of(table: Any) -> Any:
    return table.filter(compute.equal(table["outcome"], "chunk")).drop_columns(["outcome", "reason"])


def test_rows_are_those_of_one_process_and_of_a_folder_with_a_row_for_every_document(
    engine: Daft, poisoned: Path
) -> None:
    rows = ordered(engine.table(engine.module.chunk_files(*engine.before, engine.folder(poisoned))))
    assert rows.equals(one_process(poisoned))
    others = {row["doc_id"]: (row["outcome"], row["reason"]) for row in rows.to_pylist() if row["outcome"] != "chunk"}
    assert others.keys() == OTHERS.keys()
    for doc_id, (outcome, reason) in OTHERS.items():
        assert others[doc_id][0] == outcome and others[doc_id][1].startswith(reason)
    for name in ("broken.pdf", "broken.docx"):
        (poisoned / name).unlink()
    folder = cw.chunk(poisoned).to_arrow()
    assert chunks_of(rows).equals(folder.cast(chunks_of(rows).schema).combine_chunks())


def test_rows_that_an_engine_wrote_become_a_collection(engine: Daft, poisoned: Path, tmp_path: Path) -> None:
    rows = engine.kept(engine.module.chunk_files(*engine.before, engine.folder(poisoned)))
    engine.write(rows, tmp_path / "rows")
    files = sorted((tmp_path / "rows").glob("*.parquet"))
    assert files

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "chunkwright", *words, "--collection", "docs", "--store", str(tmp_path / "store")]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    run("import", *map(str, files))
    stored = [json.loads(line) for line in run("export", "-o", "-").splitlines()]
    expected = chunks_of(ordered(engine.table(rows)))
    assert sorted(row["chunk_id"] for row in stored if "chunk_id" in row) == sorted(expected["chunk_id"].to_pylist())


def test_a_table_of_texts_needs_no_distinct_or_complete_names(engine: Daft) -> None:
    columns = {"path": ["a.md", "a.md", None, "b.md", "c.py"], "body": ["# A", "# B", "# C", None, "def f(): pass\n"]}
    rows = engine.table(engine.module.chunk(engine.frame(columns), text="body", name="path")).to_pylist()
    told = sorted((row["doc_id"] or "", row["content"] or row["reason"]) for row in rows)
    expected = [("", "it has no name"), ("a.md", "# A"), ("a.md", "# B"), ("b.md", "its text is null")]
    assert told == [*expected, ("c.py", "def f(): pass")]
    assert {row["doc_id"]: row["content_type"] for row in rows}["c.py"] == "function"


def test_settings_are_refused_before_the_engine_starts(engine: Daft, corpus: Path) -> None:
    with pytest.raises(cw.SettingsError, match="max_sise"):
        engine.module.chunk_files(*engine.before, engine.folder(corpus), max_sise=5)
    with pytest.raises(cw.SettingsError, match="preset"):
        engine.module.chunk(engine.frame({"name": ["a.md"], "text": ["a"]}), preset="none such")


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_the_size_of_batches_changes_no_row(corpus: Path, batch_size: int) -> None:
    daft = pytest.importorskip("chunkwright.daft")
    rows = daft.chunk_files(f"{corpus}/**", batch_size=batch_size).to_arrow()
    assert ordered(rows).equals(one_process(corpus))


def test_a_file_above_the_limit_is_left_out_unread(engine: Daft, corpus: Path) -> None:
    rows = engine.table(engine.module.chunk_files(*engine.before, engine.folder(corpus), max_filesize="2K")).to_pylist()
    files = [path for path in corpus.rglob("*") if path.is_file()]
    large = {path.relative_to(corpus).as_posix() for path in files if path.stat().st_size > 2048}
    assert large and large == {row["doc_id"] for row in rows if row["reason"] == "too_large"}


def test_a_file_that_went_away_has_a_row() -> None:
    daft, module = pytest.importorskip("daft"), pytest.importorskip("chunkwright.daft")
    files = daft.from_pydict({"path": ["/nowhere/a.md"], "size": [3]})
    (row,) = module._files(files, None, 64, {}, ["/nowhere/"]).to_pylist()
    assert (row["doc_id"], row["outcome"], row["reason"]) == ("a.md", "failed", "it could not be read")


def test_a_name_is_a_file_and_a_folder_in_an_object_store_only() -> None:
    documents = [_tables.Document(name, b"# Text\n") for name in ("a", "a/b.md", "a", "/c.md", "d/../e.md", "f" * 300)]
    (table,) = _tables.cut(documents, {"preset": "docs"}, files=True)
    told = sorted((row["doc_id"][:9], row["outcome"], row["reason"]) for row in table.to_pylist())
    assert [one for one in told if one[1] == "chunk"] == [("a", "chunk", None)] * 2 + [("a/b.md", "chunk", None)]
    reasons = {doc_id: reason for doc_id, outcome, reason in told if outcome == "failed"}
    assert reasons == {
        "/c.md": "`/c.md` is not a relative path",
        "d/../e.md": "`d/../e.md` is not a relative path",
        "f" * 9: "File name too long",
    }


def test_a_full_disk_and_an_error_of_own_code_end_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [_tables.Document("a.md", b"# Text\n")]

    def broken(text: str) -> int:
        raise ValueError("no vocabulary")

    with pytest.raises(ValueError, match="no vocabulary"):
        list(_tables.cut(documents, {"tokenizer": broken}, files=True))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_tables.Path, "open", full)
    with pytest.raises(OSError, match="No space"):
        list(_tables.cut(documents, {}, files=True))


@pytest.mark.parametrize(
    ("paths", "path", "name"),
    [
        ("s3://bucket/docs/**/*.md", "s3://bucket/docs/a/b.md", "a/b.md"),
        ("s3a://bucket/docs/", "s3a://bucket/docs/b.md", "b.md"),
        ("s3://bucket/docs/", "bucket/docs/b.md", "b.md"),
        ("/docs/a.md", "file:/docs/a.md", "a.md"),
        ("/docs/*/[ab].md", "file:///docs/c/a.md", "c/a.md"),
        (["/docs/a/", "/docs/"], "/docs/a/b.md", "b.md"),
        ("/docs/*.md", "/elsewhere/a.md", "/elsewhere/a.md"),
        ("docs/**", "docs/a/b.md", "a/b.md"),
        ("docs/**", "file://docs/a/b.md", "a/b.md"),
        ("docs/**", f"file://{os.path.realpath('docs')}/a/b.md", "a/b.md"),
        ("*.md", "b.md", "b.md"),
    ],
)
def test_names_are_relative_to_what_is_before_the_first_wildcard(paths: str, path: str, name: str) -> None:
    assert _tables.name_of(path, _tables.roots(paths, None)) == name


def once(flag: Path) -> Callable[[str], int]:
    """Counts words, and kills the worker that does so first."""

    def words(text: str) -> int:
        try:
            flag.open("x").close()
        except FileExistsError:
            return len(text.split())
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    return words


def test_a_worker_that_is_killed_changes_no_row(engine: Daft, corpus: Path, tmp_path: Path) -> None:
    if engine.name == "daft":
        pytest.skip("its workers are threads of this process")
    flag = tmp_path / "killed"
    # Settings are tried in this process first.
    check, _tables.check = _tables.check, lambda keys: None
    try:
        rows = engine.module.chunk_files(*engine.before, engine.folder(corpus), tokenizer=once(flag))
    finally:
        _tables.check = check
    rows = ordered(engine.table(rows))
    assert flag.exists()
    expected = cw.chunk(corpus, tokenizer=once(flag)).to_arrow()
    assert chunks_of(rows).equals(expected.cast(chunks_of(rows).schema).combine_chunks())


class Embedder:
    """Vectors that depend on the text alone. Calls are lines of a file, since workers are other processes."""

    name = "toy"

    def __init__(self, calls: Path, fails_after: int = 10**9, poison: str | None = None) -> None:
        self.calls, self.fails_after, self.poison = calls, fails_after, poison

    def texts(self) -> list[str]:
        return [text for line in self.calls.read_text().splitlines() for text in json.loads(line)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with self.calls.open("a+") as file:
            # Workers call at the same time, and no more than `fails_after` calls may succeed.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if len(file.readlines()) >= self.fails_after:
                raise ConnectionError("the service is down")
            if self.poison and any(self.poison in text for text in texts):
                raise ValueError("too long")
            file.write(json.dumps(texts) + "\n")
        return toy_vectors(texts)


def test_a_run_that_died_embeds_no_text_twice(engine: Daft, corpus: Path, tmp_path: Path) -> None:
    shutil.copy(corpus / "en" / "bread.md", corpus / "copy.md")
    rows = engine.kept(engine.module.chunk_files(*engine.before, engine.folder(corpus)))
    table = ordered(engine.table(rows))
    options: dict[str, Any] = {"vectors": str(tmp_path / "vectors"), "batch_size": 8, "buckets": 3, "retries": 0}
    if engine.name == "ray":
        options["num_gpus"] = 0.25
    embedder = Embedder(tmp_path / "calls", fails_after=4)
    with pytest.raises(Exception, match="the service is down"):
        engine.table(engine.module.embed(rows, embedder, **options))
    assert len(embedder.texts()) == 32
    # Another one, since a task of the run that failed may not have ended yet.
    embedder = Embedder(tmp_path / "calls")
    embedded = ordered(engine.table(engine.module.embed(rows, embedder, **options)))
    texts = table["text"].to_pylist()
    assert sorted(embedder.texts()) == sorted(set(texts)) and len(set(texts)) < len(texts)
    assert embedded.drop_columns(["vector", "vector_model", "vector_reason"]).equals(table)
    assert embedded["vector"].equals(pyarrow.chunked_array([toy_vectors(texts)], embedded["vector"].type))
    # Tomorrow, there is nothing to embed, whatever the limit; one file is left of each bucket.
    assert ordered(engine.table(engine.module.embed(rows, embedder, token_limit=0, **options))).equals(embedded)
    assert len(embedder.texts()) == len(set(texts))
    assert len(list((tmp_path / "vectors").rglob("*.parquet"))) == 3


def test_nothing_is_embedded_beyond_the_limit_of_tokens(engine: Daft, corpus: Path, tmp_path: Path) -> None:
    rows = engine.kept(engine.module.chunk_files(*engine.before, engine.folder(corpus)))
    embedder = Embedder(tmp_path / "calls")
    with pytest.raises(ValueError, match=r"27,205 tokens have no vector yet, more than `token_limit` allows \(1,000\)"):
        engine.module.embed(rows, embedder, vectors=str(tmp_path / "vectors"), token_limit=1000)
    assert not embedder.calls.exists()


def stage(embedder: Embedder, folder: Path, **options: Any) -> _vectors.Stage:
    return _vectors.stage(embedder, str(folder), None, {"buckets": 1, "retries": 0, **options}, {})


def test_a_text_without_a_vector_has_the_reason_and_an_outage_is_raised(tmp_path: Path) -> None:
    table = pyarrow.table({"text": ["one", "two", "a poisoned one", None, "three"]})
    embedder = Embedder(tmp_path / "calls", poison="poison")
    rows = stage(embedder, tmp_path / "v").rows(table)
    reasons = [None, None, "ValueError: too long", "it has no text", None]
    assert rows["vector_reason"].to_pylist() == reasons
    assert [vector is None for vector in rows["vector"].to_pylist()] == [reason is not None for reason in reasons]
    # The reason is kept, like a vector.
    embedder.calls.unlink()
    assert stage(embedder, tmp_path / "v").rows(table).equals(rows) and not embedder.calls.exists()
    with pytest.raises(ConnectionError):
        stage(Embedder(tmp_path / "calls", fails_after=0), tmp_path / "w").rows(table)


def test_vectors_that_were_made_elsewhere_are_kept(tmp_path: Path) -> None:
    texts = ["one", "two", "three"]
    known = pyarrow.table({"text": [*texts[:2], None], "vector": [*toy_vectors(texts[:2]), None]})
    parquet.write_table(known, tmp_path / "known.parquet")
    for number, given in enumerate((known, tmp_path / "known.parquet")):
        embedder = Embedder(tmp_path / f"calls{number}")
        made = _vectors.prepared(stage(embedder, tmp_path / f"vectors{number}", batch_size=1), given)
        rows = made.rows(pyarrow.table({"text": texts}))
        assert rows["vector"].equals(pyarrow.chunked_array([toy_vectors(texts)], rows["vector"].type))
        assert embedder.texts() == ["three"]


def test_an_error_that_passes_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(_vectors.time, "sleep", waited.append)
    failures = [ConnectionError(), TimeoutError()]

    def flaky(texts: list[str]) -> list[list[float]]:
        if failures:
            raise failures.pop()
        return toy_vectors(texts)

    table = pyarrow.table({"text": ["one", "two"]})
    rows = _vectors.stage(flaky, str(tmp_path), None, {"buckets": 1}, {}).rows(table)
    assert rows["vector"].to_pylist() == pyarrow.array(toy_vectors(["one", "two"]), rows["vector"].type).to_pylist()
    assert rows["vector_model"].to_pylist() == ["flaky"] * 2
    assert len(waited) == 2 and 0 <= waited[0] <= 1 and 0 <= waited[1] <= 2
    # A limit of calls is kept by waiting.
    waited.clear()
    texts = pyarrow.table({"text": [str(number) for number in range(6)]})
    paced = _vectors.stage(toy_vectors, str(tmp_path), None, {"buckets": 1, "batch_size": 2, "calls_per_minute": 1}, {})
    paced.rows(texts)
    assert waited[0] == 0 and all(50 < seconds <= 60 for seconds in waited[1:]) and len(waited) == 3


def test_batches_hold_texts_of_similar_length(tmp_path: Path) -> None:
    embedder = Embedder(tmp_path / "calls")
    texts = ["x" * (number * 7 % 10 + 1) for number in range(10)]
    stage(embedder, tmp_path / "v", batch_size=2).rows(pyarrow.table({"text": texts}))
    assert [len(text) for text in embedder.texts()] == list(range(1, 11))


class Service(BaseHTTPRequestHandler):
    """A server with `/v1/embeddings`, which is busy at first."""

    asked: ClassVar[list[list[str]]] = []

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked.append(texts)
        data = [{"index": at, "embedding": vector} for at, vector in enumerate(toy_vectors(texts))]
        answer = json.dumps({"data": data, "model": "toy"}).encode()
        self.send_response(503 if len(self.asked) == 1 else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def test_a_service_with_the_api_of_openai_embeds(engine: Daft, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(9)]
    rows = engine.kept(engine.frame({"text": texts}))
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Service.asked.clear()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        keys = {"embedder_url": f"http://127.0.0.1:{server.server_port}/v1"}
        embedded = engine.module.embed(rows, "openai:toy", vectors=str(tmp_path), buckets=2, **keys)
        found = {row["text"]: row for row in engine.table(embedded).to_pylist()}
        server.shutdown()
    assert sorted(text for batch in Service.asked for text in batch if text in texts) == texts
    for text, vector in zip(texts, toy_vectors(texts), strict=True):
        length = sum(number * number for number in vector) ** 0.5
        assert found[text]["vector"] == pytest.approx([number / length for number in vector], abs=1e-6)
        assert found[text]["vector_model"].startswith("openai:toy") and found[text]["vector_reason"] is None


def test_no_embedder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(cw.ChunkwrightError, match="no embedder is set"):
        _vectors.stage("none", str(tmp_path), None, {}, {})
    with pytest.raises(ValueError, match="`embedder` is missing"):
        _vectors.stage(None, str(tmp_path), None, {}, {})


def run_guide(kind: str, names: dict[str, Any]) -> dict[str, Any]:
    """Runs the blocks of the guide for an engine."""
    page = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")
    for match in re.finditer(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        # The virtual machine of Spark keeps the folder that it was started in.
        code = match[1].replace('"docs"', repr(os.path.abspath("docs"))) if "spark" in kind else match[1]
        exec(compile(code, "scale.md", "exec"), names)
    return names


def test_the_guide_runs(
    engine: Daft, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.rename(corpus.parent / "docs")
    monkeypatch.chdir(corpus.parent)
    if engine.name != "daft":
        names = run_guide(f"python {engine.name}", {"session": next(iter(engine.before), None)})
        assert names["rows"].count() == len(cw.chunk("docs", max_size=512))
        return
    run_guide("python", {})
    printed = capsys.readouterr().out
    assert "more than `token_limit` allows (1,000)" in printed
    assert "1 ['update', 'update', 'update', 'upsert', 'delete']" in printed


def edit(folder: Path) -> None:
    """Every kind of change: edits, a renamed document, copies, what is gone, what is empty now."""
    page = folder / "en" / "beekeeping.md"
    page.write_text(page.read_text() + "\n\n## New\n\nA sentence of its own.\n")
    (folder / "en" / "bread.md").rename(folder / "en" / "loaf.md")
    for name in ("copy.md", "copy2.md"):
        shutil.copy(folder / "zh" / "green-tea.md", folder / name)
    (folder / "zh" / "vector-search.md").unlink()
    (folder / "[id].md").write_text("# Id\n\nAnother text.\n")
    (folder / "gone.md").write_text("")


def as_printed(operation: cw.Operation) -> dict[str, Any]:
    """An operation as the command prints it."""
    record = operation.chunk.dict() if operation.chunk else None
    members = {"old_chunk_id": operation.old_chunk_id, "vector_of": operation.vector_of, "record": record}
    given = {name: value for name, value in members.items() if value is not None}
    return {"op": operation.op, "chunk_id": operation.chunk_id, **given}


def test_an_update_reads_what_changed_and_gives_the_operations_of_diff(engine: Daft, corpus: Path) -> None:
    def diff() -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "chunkwright", "diff", "--operations", "--state", "state.jsonl", str(corpus)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=corpus.parent, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    shutil.copy(corpus / "en" / "bread.md", corpus / "twin.md")
    (corpus / "[id].md").write_text("# Id\n\nA text.\n")
    (corpus / "gone.md").write_text("# Gone\n\nSoon.\n")
    diff()
    rows = engine.kept(engine.module.chunk_files(*engine.before, engine.folder(corpus)))
    listed = engine.kept(engine.module.listing(*engine.before, str(corpus)))
    edit(corpus)
    update = engine.module.update(*engine.before, str(corpus), rows=rows, listed=listed)
    operations = diff()
    assert [as_printed(one) for one in update.operations] == operations
    assert {one["op"] for one in operations} == {"upsert", "update", "rename", "delete"}
    assert sum("vector_of" in one for one in operations) > 10
    assert update.read == 6
    assert ordered(engine.table(update.rows)).equals(one_process(corpus))
    again = engine.module.update(*engine.before, str(corpus), rows=update.rows, listed=update.listed)
    assert (again.read, again.operations) == (0, [])


def test_other_settings_read_everything_again_and_a_broken_document_keeps_its_chunks(corpus: Path) -> None:
    daft = pytest.importorskip("chunkwright.daft")
    (corpus / "page.docx").write_text("")
    rows, listed = daft.chunk_files(f"{corpus}/**").collect(), daft.listing(str(corpus)).collect()
    documents = listed.count_rows()
    other = daft.update(str(corpus), rows=rows, listed=listed, max_size=64)
    assert other.read == documents and len(other.operations) > 200
    page = corpus / "en" / "bread.md"
    kept = [row["chunk_id"] for row in rows.to_pylist() if row["doc_id"] == "en/bread.md"]
    page.write_bytes(b"%PDF-1.4 and no more")
    broken = daft.update(str(corpus), rows=rows, listed=listed)
    assert broken.read == 1 and broken.operations == []
    assert kept and kept == [row["chunk_id"] for row in broken.rows.to_pylist() if row["doc_id"] == "en/bread.md" and row["chunk_id"]]
    assert daft.update(str(corpus), rows=broken.rows, listed=broken.listed).read == 1
