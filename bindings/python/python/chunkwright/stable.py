"""Markdown in three passes, as DL-0010 calls it: dicts of exactly its five keys, and a look at a folder.

    from chunkwright.stable import chunk_text

    md_text = open("docs/en/bread.md", encoding="utf-8").read()
    for chunk in chunk_text(md_text, max_chars=1800, min_chars=250):
        print(chunk["chunk_id"], chunk["header_path"], chunk["start_line"], chunk["end_line"])

`python -m chunkwright.stable data/md` prints what a folder is cut into.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypedDict

from . import Chunk, _chunkwright

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any


class StableChunk(TypedDict):
    """A chunk: its id, its text, its path such as `H1 A > H2 B`, and its lines, from 1 and inclusive."""

    chunk_id: str
    content: str
    header_path: str
    start_line: int
    end_line: int


def _five(chunk: Chunk) -> StableChunk:
    return {
        "chunk_id": chunk.chunk_id,
        "content": chunk.content,
        "header_path": chunk.header_path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
    }


def chunk_text(md_text: str, **kwargs: Any) -> list[StableChunk]:
    """Cut one text of Markdown. Keywords are `max_chars`, `min_chars`, `max_heading_level_for_path`,
    `keep_code_blocks_intact`, and every other key of the settings; without one the preset `stable` holds."""
    return [_five(chunk) for chunk in _chunkwright.chunk_text(md_text, **_stable(kwargs))]


def chunk_folder(path: str | PathLike[str], **kwargs: Any) -> dict[str, list[StableChunk]]:
    """Cut all documents of a folder: the chunks of each, by its path in the folder."""
    documents: dict[str, list[StableChunk]] = {}
    for chunk in _chunkwright.chunk(path, **_stable(kwargs)):
        documents.setdefault(chunk.doc_id, []).append(_five(chunk))
    return documents


def _stable(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"preset": "stable", **kwargs}


def _main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m chunkwright.stable FOLDER", file=sys.stderr)
        return 2
    documents = chunk_folder(arguments[0])
    for doc_id, chunks in documents.items():
        print(f"{doc_id}: {len(chunks)} chunks")
        for chunk in chunks:
            lines = f"{chunk['start_line']}-{chunk['end_line']}"
            print(f"  {chunk['chunk_id']}  lines {lines}  {len(chunk['content'])} characters  {chunk['header_path']}")
    return 0 if documents else 1


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
