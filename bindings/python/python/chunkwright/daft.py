"""Daft: chunks of files, of objects of a store, and of a column of texts, as a lazy frame.

    from chunkwright import daft

    rows = daft.chunk_files("docs/**/*.md", max_size=512)
    rows.where("outcome = 'chunk'").select("chunk_id", "text").show()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _changes, _tables, _vectors
from ._frames import library

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys


def chunk_files(
    paths: str | list[str],
    *,
    root: str | None = None,
    io_config: Any = None,
    batch_size: int = _tables.BATCH,
    **keys: Unpack[Keys],
) -> Any:
    """Cut files: a frame with a row for each chunk, and one for each file without chunks.

    `paths` are paths, globs or URLs such as `s3://bucket/docs/**/*.md`, with `io_config` for their store. The `doc_id` of a
    file is its path below `root`, by default the part of its path or glob before the first wildcard: as
    `chunkwright chunk` names the files of a folder. Files are left out for the same reasons, but for ignore files.

    The columns are those of a chunk, then `outcome` (`chunk`, `empty`, `left_out` or `failed`) and `reason`. The order of
    rows depends on the run; sort by `doc_id` and `chunk_index`. `batch_size` documents are in memory at once. Keywords
    are keys of the settings.

    Raises `SettingsError` for a key or value that does not exist.
    """
    daft = library("daft")
    _tables.check(keys)
    files = daft.from_glob_path(paths, io_config=io_config)
    return _files(files, io_config, batch_size, keys, _tables.roots(paths, root))


def _files(files: Any, io_config: Any, batch_size: int, keys: Any, folders: Sequence[str]) -> Any:
    """The rows of files that are listed with `path` and `size`."""
    daft = library("daft")
    is_small = daft.col("size") <= _tables.limit(keys)
    files = files.into_batches(batch_size)
    content = daft.functions.when(is_small, daft.col("path")).download(on_error="null", io_config=io_config)
    files = files.select("path", content.alias("content"), (~is_small).alias("too_large"))
    return _rows(files, ["path", "content", "too_large"], batch_size, keys, folders)


def chunk(
    frame: Any, *, text: str = "text", name: str = "name", batch_size: int = _tables.BATCH, **keys: Unpack[Keys]
) -> Any:
    """Cut the texts of a frame: `text` is the column of texts, or of bytes, and `name` that of their names.

    A name is a document's `doc_id` and tells its format. Rows and keywords are those of `chunk_files`.
    """
    _tables.check(keys)
    return _rows(frame.select(name, text).into_batches(batch_size), [name, text], batch_size, keys)


def _rows(
    documents: Any, columns: list[str], batch_size: int, keys: Any, folders: Sequence[str] | None = None
) -> Any:
    daft = library("daft")
    row = daft.DataType.from_arrow_type(library("pyarrow").struct(_tables.schema()))

    @daft.func.batch(return_dtype=daft.DataType.list(row), batch_size=batch_size)  # type: ignore[untyped-decorator]
    def cut(*columns: Any) -> Any:
        documents = _tables.documents([one.to_arrow() for one in columns], folders)
        return _tables.lists(_tables.cut(documents, keys, files=folders is not None), len(columns[0]))

    # A document has at least one row, so `explode` makes none of its own.
    rows = documents.select(cut(*map(daft.col, columns)).alias("row")).explode("row")
    return rows.select(daft.functions.unnest(daft.col("row")))


def embed(
    rows: Any,
    embedder: Any,
    /,
    *,
    vectors: str,
    model: str | None = None,
    known: Any = None,
    num_gpus: float = 0,
    token_limit: int | None = None,
    batch_size: int = 64,
    retries: int | None = None,
    calls_per_minute: float | None = None,
    buckets: int = 64,
    **keys: Unpack[Keys],
) -> Any:
    """Embed the texts of rows, each once: the rows with `vector`, `vector_model` and `vector_reason`.

    `embedder` is a name that the key `embedder` takes, such as `static` or `openai:MODEL`, with the keys of its service; a
    function from a list of texts to vectors; or an object that embeds, as `Sync.to` takes it. `vectors` is a folder or URL
    that all workers can write: each call of the embedder ends with its vectors in a Parquet file there, and no text that it
    holds under this `model` is embedded again, in this run, in one that resumes it, or in tomorrow's. `model` is by default
    the name of the embedder. `known` adds vectors that were made elsewhere, by the same model: a Parquet file or a table of Arrow
    with the columns `text` and `vector`.

    A text that has no vector by itself has the reason in `vector_reason`; an outage is raised after `retries`. With
    `token_limit`, `ValueError` is raised before the first call if more tokens would be embedded; the rows are then read
    twice. `calls_per_minute` and `num_gpus`, which may be a fraction, are those of one worker. A worker has all texts of one
    of the `buckets` in memory.
    """
    daft, arrow = library("daft"), library("pyarrow")
    options = _vectors.options(
        batch_size=batch_size, calls_per_minute=calls_per_minute, buckets=buckets, retries=retries
    )
    stage = _vectors.prepared(_vectors.stage(embedder, vectors, model, options, keys), known)
    schema = rows.schema().to_pyarrow_schema()

    @daft.func.batch(return_dtype=daft.DataType.int32())  # type: ignore[untyped-decorator]
    def bucket(texts: Any) -> Any:
        return arrow.array(stage.bucket(texts.to_pylist()), arrow.int32())

    def by_bucket(result: Any, work: Any, gpus: float = 0) -> Any:
        @daft.func.batch(return_dtype=daft.DataType.from_arrow_type(result), gpus=gpus)  # type: ignore[untyped-decorator]
        def column(*columns: Any) -> Any:
            return work(arrow.table([one.to_arrow() for one in columns], names=schema.names))

        groups = rows.with_column(_vectors.BUCKET, bucket(daft.col("text"))).groupby(_vectors.BUCKET)
        return groups.map_groups(column(*map(daft.col, schema.names)).alias("row"))

    if token_limit is not None:
        counted = by_bucket(arrow.int64(), lambda table: [stage.tokens(table)]).sum("row").to_pydict()["row"]
        _vectors.bound(counted[0] or 0, token_limit)
    result = arrow.struct([*schema, *_vectors.added()])
    embedded = by_bucket(result, lambda table: _vectors.structs(stage.rows(table)), num_gpus)
    return embedded.select(daft.functions.unnest(daft.col("row")))


def listing(paths: str | list[str], *, root: str | None = None, **keys: Unpack[Keys]) -> Any:
    """The files of paths and folders: a frame with `doc_id`, `size`, `modified` (nanoseconds since 1970) and `settings`.

    Keep it beside the rows of the same files and keywords: `update` starts from both.
    """
    return library("daft").from_arrow(_changes.listed(paths, root, keys).select(_changes.STAMP))


def update(
    paths: str | list[str],
    *,
    rows: Any,
    listed: Any,
    root: str | None = None,
    io_config: Any = None,
    batch_size: int = _tables.BATCH,
    **keys: Unpack[Keys],
) -> _changes.Update:
    """Bring rows of files up to date: only files are read whose size or time is another than that in `listed`, or all if
    the settings are others.

    `rows` and `listed` are frames of the last time: those of `chunk_files` and `listing`, or of the update before.
    `operations` of the result are what a vector database has to do, as `chunkwright diff --operations` prints it; `rows`
    and `listed` are where the next update starts. A file that cannot be read for now keeps its chunks. The chunks of
    changed documents have to fit into the memory of this process.
    """
    daft = library("daft")
    today = _changes.listed(paths, root, keys)
    sizes = dict(zip(today["path"].to_pylist(), today["size"].to_pylist(), strict=True))

    def cut(changed: list[str]) -> Any:
        files = daft.from_pydict({"path": changed, "size": [sizes[path] for path in changed]})
        return _files(files, io_config, batch_size, keys, _tables.roots(paths, root))

    engine = _changes.Frames(
        of=daft.from_arrow,
        tables=lambda frame: [frame.to_arrow()],
        join=lambda left, right, on, how: left.join(right, on=on, how=how),
        select=lambda frame, columns: frame.select(*columns),
        union=lambda one, other: one.union_all_by_name(other),
        cut=cut,
    )
    return _changes.update(engine, today, rows, listed)
