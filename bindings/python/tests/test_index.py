"""A collection: indexed, searched, changed by hand, watched and served."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.request
from pathlib import Path

import pytest

import chunkwright as cw


def test_what_changed_is_indexed_and_found(corpus: Path) -> None:
    index = cw.Index(corpus)
    assert index.search("how long does the dough rest?", k=3)[0].doc_id == "en/bread.md"
    (corpus / "en" / "hives.md").write_text("# Hives\n\nFeed them sugar in autumn.\n")
    (corpus / "en" / "bread.md").unlink()
    answer = index.index(corpus, prune="remove")
    assert answer.indexed == 1
    assert index.search("sugar in autumn", k=1)[0].doc_id == "en/hives.md"
    assert "en/bread.md" not in {document.doc_id for document in index.documents()}
    assert index.fetch("en/hives.md").text.startswith("# Hives")
    assert index.outline("en/hives.md")[1].title == "Hives"


def test_documents_that_are_put_are_found_and_deleted() -> None:
    index = cw.Index(collection="notes")
    answer = index.put({"a.md": "# Harbour\n\nThe ferry leaves at noon.\n", "b.md": "# Зима\n\nЛёд на реке.\n"})
    assert [document.state for document in answer.documents] == ["stored", "stored"]
    assert index.search("лёд", k=1)[0].doc_id == "b.md"
    assert [deleted.doc_id for deleted in index.delete("a.md")] == ["a.md"]
    assert index.search("ferry") == []


def test_a_renamed_collection_keeps_what_it_has_and_the_index_goes_on() -> None:
    index = cw.Index(collection="notes")
    index.put({"a.md": "# Harbour\n\nThe ferry leaves at noon.\n"})
    assert index.rename("guide") == {"collection": "guide", "before": "notes"}
    assert index.collection == "guide"
    assert index.search("ferry", k=1)[0].doc_id == "a.md"
    with pytest.raises(cw.ConflictError):
        index.rename("guide")
    assert cw.Index(collection="guide").documents()[0].doc_id == "a.md"


def test_a_chunk_is_disabled_amended_and_enabled(corpus: Path) -> None:
    index = cw.Index(corpus)
    hit = index.search("sourdough starter", k=1)[0]
    index.disable(hit.chunk_id)
    assert hit.chunk_id not in {other.chunk_id for other in index.search("sourdough starter", k=50)}
    index.enable(hit.chunk_id)
    index.amend(hit.chunk_id, keywords=["zeppelin"])
    assert index.search("zeppelin", k=1)[0].chunk_id == hit.chunk_id
    assert index.overlays().total == 1
    assert index.check().get("problems", []) == []
    assert len(index.versions().generations) == 1


def test_options_that_do_not_exist_are_named(corpus: Path) -> None:
    index = cw.Index(corpus)
    with pytest.raises(cw.RequestError, match="top_k"):
        index.search("x", top_l=5)  # type: ignore[call-arg]
    with pytest.raises(cw.RequestError) as wrong:
        index.search("x", k=0)
    assert wrong.value.errors[0]["pointer"] == "#/top_k"
    with pytest.raises(cw.NotFoundError):
        index.fetch("no/such.md")
    with pytest.raises(cw.UnknownCollectionError):
        cw.Index(collection="none", read_only=True).search("x")


def test_threads_and_tasks_share_an_index(corpus: Path) -> None:
    index = cw.Index(corpus)
    expected = [hit.chunk_id for hit in index.search("tea")]
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append([hit.chunk_id for hit in index.search("tea")])) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8

    async def several() -> list[list[cw.Hit]]:
        return await asyncio.gather(*(index.asearch("tea") for _ in range(8)))

    assert [[hit.chunk_id for hit in hits] for hits in asyncio.run(several())] == [expected] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_after_a_fork_cuts_and_opens_the_index_again(corpus: Path) -> None:
    script = f"""
        import os
        import chunkwright as cw
        corpus = {str(corpus)!r}
        expected = cw.chunk(corpus).dicts()
        index = cw.Index(corpus)
        child = os.fork()
        if child == 0:
            assert cw.chunk(corpus).dicts() == expected
            try:
                index.search("tea")
            except cw.RequestError as error:
                assert "open it again" in str(error)
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert index.search("tea")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as Unix has them")
def test_an_interrupt_ends_a_run_soon_and_keeps_what_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(400):
        (folder / f"{number}.md").write_text(f"# Part {number}\n\n" + f"word{number} " * 500)
    script = f"""
        import sys, time
        import chunkwright as cw
        def slow(texts):
            print("embedding", flush=True)
            time.sleep(0.2)
            return [[1.0, float(len(text))] for text in texts]
        index = cw.Index(embedder=slow)
        try:
            index.index({str(folder)!r})
        except KeyboardInterrupt:
            status = index.status()
            print("interrupted", flush=True)
            sys.exit(0)
        sys.exit(1)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    lines = iter(process.stdout.readline, "")
    next(lines)
    next(lines)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in "".join(lines)
    assert process.wait(30) == 0
    process.stdout.close()


def test_a_watch_indexes_what_changes_until_it_is_told_to_end(corpus: Path) -> None:
    index = cw.Index(collection="watched")
    runs = 0

    def on_event(event: cw.Answer) -> None:
        nonlocal runs
        if event.event == "waiting":
            runs += 1
            if runs == 2:
                raise StopIteration
            (corpus / "en" / "hives.md").write_text("# Hives\n\nFeed them sugar.\n")

    index.watch(corpus, on_event)
    assert index.search("hives sugar", k=1)[0].doc_id == "en/hives.md"


def test_a_server_answers_and_ends(corpus: Path) -> None:
    index = cw.Index(corpus)
    with index.serve() as server:
        with urllib.request.urlopen(f"{server.url}/api/v1/collections") as answer:
            assert json.load(answer)["collections"][0]["documents"] > 0


def test_a_server_cuts_as_the_package_does(corpus: Path) -> None:
    documents = {path.relative_to(corpus).as_posix(): path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    texts = {name: content.decode() for name, content in documents.items() if b"\0" not in content}
    assert len(texts) > 10
    with cw.Index(corpus).serve() as server:
        for name, text in texts.items():
            request = {"doc_id": name, "text": text, "limit": 1000, "settings": {"max_size": 128}}
            body = urllib.request.Request(
                f"{server.url}/api/v1/preview", json.dumps(request).encode(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(body) as answer:
                chunks = json.load(answer)["chunks"]
            assert chunks == cw.chunk_text(text, name=name, max_size=128).dicts(), name
