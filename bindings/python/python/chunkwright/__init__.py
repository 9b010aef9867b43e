"""Stable, explainable, token-bounded chunks of documents and source code, indexed and searched.

    import chunkwright as cw

    chunks = cw.chunk("docs", include="*.md", max_size=512)
    chunks[0].text, chunks[0].header_path, chunks[0].start_line

Keywords are keys of the settings, as the command line and the server have them; `keys()` describes each. An error is of
one class for each code of the engine's table, below `ChunkwrightError`.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING, NamedTuple

from . import _chunkwright
from ._chunkwright import (
    Chunk,
    Chunks,
    __version__,
    chunk,
    chunk_arrow,
    chunk_text,
    count_tokens,
    keys,
    options,
    schema,
)
from ._answer import Answer, Answers
from ._errors import *  # noqa: F403
from ._errors import __all__ as _error_names

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from ._chunkwright import Keys, Source
    from ._evaluate import evaluate, tune
    from ._index import Hit, Index, Server
    from ._sync import Operation, Sync, sync

#: What is imported when it is asked for, with its module: its imports take longer than those of all the rest.
_LATER = {
    "Hit": "_index",
    "Index": "_index",
    "Operation": "_sync",
    "Server": "_index",
    "Sync": "_sync",
    "evaluate": "_evaluate",
    "sync": "_sync",
    "tune": "_evaluate",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from importlib import import_module

    found = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__


if _sys.executable:
    # Files of binary formats are converted by processes of their own.
    _chunkwright.contain([_sys.executable, "-m", "chunkwright"])


def preview(text: str, *, name: str | None = None, **keys: Unpack[Keys]) -> Answer:
    """Cut one text for a look: `chunks`, `explanations` of where each begins and ends, `statistics`."""
    return Answer(_chunkwright.preview(text, name=name, **keys))


class ChunkingResult(NamedTuple):
    """What a document or folder is cut into: chunks, and summaries of files, classes and functions."""

    chunks: list[Chunk]
    summaries: list[Chunk]


def process(source: Source, *, name: str | None = None, **keys: Unpack[Keys]) -> ChunkingResult:
    """Cut source code into chunks and summaries, as one result with two lists."""
    result = ChunkingResult([], [])
    for record in chunk(source, name=name, summaries=True, **keys):
        (result.summaries if record.artifact else result.chunks).append(record)
    return result


def stats(source: Source, *, name: str | None = None, **keys: Unpack[Keys]) -> Answer:
    """Measure documents and their chunks: sizes, what became of the lines, promises that were broken."""
    return Answer(_chunkwright.stats(source, name=name, **keys))


def outline(source: Source, *, name: str | None = None, **keys: Unpack[Keys]) -> Answers:
    """List the sections of documents with their lines and tokens."""
    return Answers(_chunkwright.outline(source, name=name, **keys))


def explain(source: Source, *, line: int | None = None, name: str | None = None, **keys: Unpack[Keys]) -> Answers:
    """Say why the chunks of one document begin and end where they do; with `line`, from 1, only those that hold it."""
    return Answers(_chunkwright.explain(source, line=line, name=name, **keys)["chunks"])


def diff(old: Source, new: Source, *, name: str | None = None, **keys: Unpack[Keys]) -> Answer:
    """Compare the chunks of two versions of documents.

    A side is a file, a folder, a file of chunks, or a revision of its git repository such as `docs@HEAD~1`. The answer has
    `changes`, and `summary` with the tokens that have to be embedded again.
    """
    return Answer(_chunkwright.diff(old, new, name=name, **keys))


__all__ = [
    "Answer",
    "Answers",
    "Chunk",
    "ChunkingResult",
    "Chunks",
    "Hit",
    "Index",
    "Operation",
    "Server",
    "Sync",
    "__version__",
    "chunk",
    "chunk_arrow",
    "chunk_text",
    "count_tokens",
    "diff",
    "evaluate",
    "explain",
    "keys",
    "options",
    "outline",
    "preview",
    "process",
    "schema",
    "stats",
    "sync",
    "tune",
    *_error_names,
]
