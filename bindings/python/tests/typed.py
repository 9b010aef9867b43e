"""Calls as a program writes them, which the checkers of types read; nothing here runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

import chunkwright as cw

chunks = cw.chunk(Path("docs"), include="*.md", max_size=512, tokenizer="cl100k")
assert_type(chunks, cw.Chunks)
assert_type(chunks[0], cw.Chunk)
assert_type(chunks[0].text, str)
assert_type(chunks[0].start_line, int)
assert_type(chunks[0].section_path, list[str])
assert_type(chunks[0].language, str | None)
assert_type(chunks[1:], cw.Chunks)

cw.chunk_text("# A", name="a.md", max_chars=1800)
cw.chunk("docs", tokenizer=len, embedder=lambda texts: [[0.0] for _ in texts])
cw.chunk("docs", max_sise=5)  # type: ignore[call-arg]
cw.chunk("docs", max_size="big")  # type: ignore[arg-type]

with cw.sync("docs", state="docs.state") as s:
    assert_type(s.texts, list[str])
    for operation in s:
        if operation.op == "upsert" and operation.chunk:
            assert_type(operation.chunk.chunk_id, str)

index = cw.Index("docs", embedder="e5")
hits = index.search("how are hives fed?", k=5, mode="hybrid")
assert_type(hits[0], cw.Hit)
index.search("x", mode="lexikal")  # type: ignore[arg-type]

try:
    cw.diff("docs@HEAD~1", "docs")
except cw.SettingsError as error:
    assert_type(error.code, str)
