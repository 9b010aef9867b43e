"""What changed since a run on a batch engine: joins of its rows with today's listing, then the operations of `diff`.

Only documents that are new, or whose size or time is another, are read. Their chunks of both days are compared in this
process; everything else stays on the engine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import _chunkwright, _tables
from ._frames import library
from ._sync import Operation
from ._targets import digest

#: What tells that a document is as it was.
STAMP = ["doc_id", "size", "modified", "settings"]


@dataclass(frozen=True)
class Update:
    """The state of today, and what leads to it."""

    #: Today's rows: those of documents that did not change, and new ones.
    rows: Any
    #: Today's listing: `doc_id`, `size`, `modified`, `settings`. Both are what the next update starts from.
    listed: Any
    #: What a vector database has to do, in order, as `chunkwright diff --operations` prints it.
    operations: list[Operation]
    #: Number of documents that were read.
    read: int


@dataclass(frozen=True)
class Frames:
    """The frames of an engine."""

    #: A frame of a table.
    of: Callable[[Any], Any]
    #: The tables of a frame, which may be none.
    tables: Callable[[Any], list[Any]]
    #: The rows of a frame that have (`semi`) or do not have (`anti`) a row with the same columns in another.
    join: Callable[[Any, Any, list[str], str], Any]
    select: Callable[[Any, list[str]], Any]
    union: Callable[[Any, Any], Any]
    #: The rows of files.
    cut: Callable[[list[str]], Any]

    def table(self, frame: Any, schema: Any) -> Any:
        """A frame as a table of this schema: joins move columns, and make large strings of strings."""
        tables = [table.select(schema.names).cast(schema) for table in self.tables(frame) if table.num_rows]
        return library("pyarrow").concat_tables([schema.empty_table(), *tables])


def listed(paths: str | Sequence[str], root: str | None, keys: Mapping[str, Any], filesystem: Any = None) -> Any:
    """The documents of paths and folders, as a table with their paths."""
    arrow = library("pyarrow")
    folders = _tables.roots(paths, root)
    sample = _chunkwright.chunk_text("a", name="a.md", **keys)[0]
    settings = digest(f"{sample.strategy_version} {sample.config_hash} {sorted(keys.items())}")
    files = _tables.listing(paths, filesystem)
    return arrow.table(
        {
            "path": arrow.array([path for path, _, _ in files], arrow.string()),
            "doc_id": [_chunkwright.doc_id(_tables.name_of(path, folders) or "") for path, _, _ in files],
            "size": arrow.array([size for _, size, _ in files], arrow.int64()),
            "modified": arrow.array([modified for _, _, modified in files], arrow.int64()),
            "settings": arrow.array([settings] * len(files), arrow.string()),
        }
    )


def update(engine: Frames, today: Any, rows: Any, before: Any) -> Update:
    """The update from yesterday's `rows` and listing `before` to the listing `today`."""
    arrow, compute = library("pyarrow"), library("pyarrow.compute")
    schema, names = _tables.schema(), arrow.schema([("doc_id", arrow.string())])
    now = engine.of(today)
    changed = engine.table(engine.join(now, before, STAMP, "anti"), today.schema)
    gone = engine.table(engine.join(before, now, ["doc_id"], "anti"), names)
    paths = sorted(changed["path"].to_pylist())
    new = engine.table(engine.cut(paths), schema) if paths else schema.empty_table()
    # A document that cannot be read for now keeps the chunks that it has, and is read again next time.
    failed = new.filter(compute.equal(new["outcome"], "failed"))["doc_id"]
    ids = set(changed["doc_id"].to_pylist()) | set(gone["doc_id"].to_pylist())
    dirty = engine.of(arrow.table([sorted(ids - set(failed.to_pylist()))], schema=names))
    old = engine.table(engine.join(rows, dirty, ["doc_id"], "semi"), schema)
    operations = _operations(_chunks(old), _chunks(new), engine, rows)
    is_new = compute.invert(compute.is_in(today["doc_id"], value_set=failed.combine_chunks()))
    return Update(
        rows=engine.union(engine.join(rows, dirty, ["doc_id"], "anti"), engine.of(new)),
        listed=engine.of(today.filter(is_new).select(STAMP)),
        operations=operations,
        read=len(paths),
    )


def _chunks(rows: Any) -> Any:
    """The chunks among rows, as a table of records."""
    rows = rows.filter(library("pyarrow.compute").equal(rows["outcome"], "chunk"))
    rows = rows.sort_by([("doc_id", "ascending"), ("chunk_index", "ascending")])
    return rows.drop_columns(["outcome", "reason"])


def _operations(old: Any, new: Any, engine: Frames, rows: Any) -> list[Operation]:
    with tempfile.TemporaryDirectory(prefix="chunkwright-") as folder:
        sides = [Path(folder, name) for name in ("old.parquet", "new.parquet")]
        for side, table in zip(sides, (old, new), strict=True):
            library("pyarrow.parquet").write_table(table, os.fspath(side))
        plan = _chunkwright.plan(os.fspath(sides[1]), os.fspath(sides[0]))
    operations = [
        Operation(one["op"], one["chunk_id"], one.get("record"), one.get("old_chunk_id"), one.get("vector_of"))
        for one in plan.operations()
    ]
    return _with_vectors_of(operations, engine, rows)


def _with_vectors_of(operations: list[Operation], engine: Frames, rows: Any) -> list[Operation]:
    """The operations with the chunks that have a text already, in documents that did not change, too."""
    arrow = library("pyarrow")
    texts = sorted({one.chunk.text for one in operations if one.op == "upsert" and one.chunk})
    if not texts:
        return operations
    wanted = engine.of(arrow.table({"text": arrow.array(texts, arrow.string())}))
    names = ["doc_id", "chunk_index", "chunk_id", "text"]
    places = engine.join(engine.select(rows, names), wanted, ["text"], "semi")
    places = engine.table(places, arrow.schema([_tables.schema().field(name) for name in names]))
    places = places.sort_by([("doc_id", "ascending"), ("chunk_index", "ascending")])
    # The last chunk with a text, as in `diff`; from then on the one that an operation has written.
    vectors = dict(zip(places["text"].to_pylist(), places["chunk_id"].to_pylist(), strict=True))
    complete = []
    for one in operations:
        if one.chunk is not None:
            text = one.chunk.text
            one = replace(one, vector_of=vectors.get(text) if one.op == "upsert" else None)
            vectors[text] = one.chunk_id
        complete.append(one)
    return complete
