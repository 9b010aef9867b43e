"""Synchronization: the operations since the last time, and the state that is written when they are done."""

from __future__ import annotations

from pathlib import Path

import pytest

import chunkwright as cw


def ops(s: cw.Sync) -> dict[str, int]:
    counts: dict[str, int] = {}
    for operation in s:
        counts[operation.op] = counts.get(operation.op, 0) + 1
    return counts


def test_only_what_changed_is_told_the_next_time(corpus: Path, tmp_path: Path) -> None:
    state = tmp_path / "docs.state"
    with cw.sync(corpus, state=state) as first:
        texts = first.texts
        assert ops(first) == {"upsert": len(cw.chunk(corpus))}
    assert texts == list(dict.fromkeys(chunk.text for chunk in cw.chunk(corpus)))
    with cw.sync(corpus, state=state) as again:
        assert list(again) == [] and again.texts == []
    bread = corpus / "en" / "bread.md"
    bread.write_text(bread.read_text().replace("Flour", "Rye flour", 1))
    (corpus / "en" / "new.md").write_text("# New\n\nA page.\n")
    (corpus / "ru" / "stove.md").rename(corpus / "ru" / "печь.md")
    gone = len(cw.chunk(corpus / "zh" / "green-tea.md"))
    (corpus / "zh" / "green-tea.md").unlink()
    with cw.sync(corpus, state=state) as edited:
        assert len(edited.texts) == 2
        counts = ops(edited)
    assert counts["rename"] == len(cw.chunk(corpus / "ru" / "печь.md"))
    assert counts["delete"] == gone + 1 and counts["upsert"] == 2


def test_operations_that_were_not_all_done_are_told_again(corpus: Path, tmp_path: Path) -> None:
    state = tmp_path / "docs.state"
    with pytest.raises(RuntimeError), cw.sync(corpus, state=state) as s:
        for operation in s:
            raise RuntimeError(operation.chunk_id)
    assert not state.exists()
    with cw.sync(corpus, state=state) as s:
        for _ in s:
            break
    assert not state.exists()
    with cw.sync(corpus, state=state) as s:
        assert len(list(s)) == len(cw.chunk(corpus))
    assert state.exists()


def test_a_state_is_a_file_of_chunks_as_the_command_reads_it(corpus: Path, tmp_path: Path) -> None:
    for name in ("docs.state", "docs.parquet"):
        with cw.sync(corpus, state=tmp_path / name) as s:
            list(s)
        summary = cw.diff(tmp_path / name, corpus).summary
        assert summary.kept == len(cw.chunk(corpus)) and summary.texts_to_embed == 0
    (tmp_path / "other.state").write_text("something else\n")
    with pytest.raises(cw.RequestError):
        cw.sync(corpus, state=tmp_path / "other.state")
