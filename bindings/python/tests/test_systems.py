"""The configurations and examples of other systems, typed as their documents have them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chunkwright as cw
from chunkwright.stable import chunk_folder, chunk_text
from conftest import CORPUS

FIVE = ["chunk_id", "content", "header_path", "start_line", "end_line"]


def test_chunk_text_gives_exactly_the_five_keys_of_the_design() -> None:
    md_text = "# 引言\n\n第一段。\n\n## 方法\n\n```python\n# 不是标题\n" + "print('一行')\n" * 200 + "```\n\n第二段。\n"
    chunks = chunk_text(
        md_text,
        max_chars=1800,
        min_chars=250,
        max_heading_level_for_path=3,
        keep_code_blocks_intact=True,
    )
    assert chunks == chunk_text(md_text), "these are the defaults"
    assert all(list(chunk) == FIVE for chunk in chunks)
    assert [chunk["header_path"] for chunk in chunks if "```python" in chunk["content"]] == ["H1 引言 > H2 方法"]
    lines = md_text.splitlines()
    for chunk in chunks:
        replayed = "\n".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])
        assert chunk["content"].strip() in replayed
    fence = next(chunk for chunk in chunks if "```python" in chunk["content"])
    assert fence["content"].count("```") == 2 and len(fence["content"]) > 1800
    split = chunk_text(md_text, keep_code_blocks_intact=False)
    assert all(len(chunk["content"]) <= 1800 for chunk in split)


def test_a_small_edit_changes_one_chunk_and_keeps_the_ids_of_the_others() -> None:
    text = (CORPUS / "zh" / "green-tea.md").read_text()
    before = {chunk["chunk_id"] for chunk in chunk_text(text)}
    after = {chunk["chunk_id"] for chunk in chunk_text("第零行。\n\n" + text)}
    assert len(before - after) <= 1


def test_a_folder_is_cut_and_looked_at() -> None:
    documents = chunk_folder(CORPUS / "zh")
    assert documents == chunk_folder(CORPUS / "zh", max_chars=1800)
    line = [sys.executable, "-m", "chunkwright.stable", str(CORPUS / "zh")]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    for doc_id, chunks in documents.items():
        assert all(list(chunk) == FIVE for chunk in chunks)
        assert f"{doc_id}: {len(chunks)} chunks\n" in printed
        assert all(chunk["chunk_id"] in printed for chunk in chunks)
    assert subprocess.run(line[:3], capture_output=True, check=False).returncode == 2


def test_chunks_and_summaries_are_one_result_with_two_lists(tmp_path: Path) -> None:
    source = tmp_path / "go.py"
    source.write_text("import os\n\n\nclass Ship:\n    def sail(self):\n        return os.getpid()\n")
    chunks, summaries = result = cw.process(source, max_tokens=512, fixed_chunk_lines=50, overlap_lines=5)
    assert (result.chunks, result.summaries) == (chunks, summaries)
    assert not any(chunk.artifact for chunk in chunks)
    assert {summary.artifact for summary in summaries} >= {"file_summary", "class_summary"}
    assert chunks == list(cw.chunk(source, max_tokens=512))
