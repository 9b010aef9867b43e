"""Spark: chunks of files, of objects of a store, and of a column of texts, as a data frame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from . import _changes, _tables, _vectors
from ._frames import library

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys


def chunk_files(spark: Any, paths: str | list[str], *, root: str | None = None, **keys: Unpack[Keys]) -> Any:
    """Cut files: a frame with a row for each chunk, and one for each file without chunks.

    `paths` are paths, globs or URLs, read by the session's own connectors. The rows are those of
    `chunkwright.daft.chunk_files`; numbers have 64 bits, since Spark has no unsigned ones. Spark does not list files whose
    names begin with `_` or `.`: they have no row. At once it passes as many documents as
    `spark.sql.execution.arrow.maxBytesPerBatch` says.
    """
    functions = library("pyspark.sql.functions")
    _tables.check(keys)
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(paths)
    is_small = files["length"] <= _tables.limit(keys)
    # Spark opens only the files that pass the filter, and none that are empty, which it does not list as rows either.
    small = files.where(is_small).select("path", "content")
    large = files.where(~is_small).select("path", functions.lit(None).cast("binary").alias("content"))
    found = [(re.sub("^file:/+", "file:/", unquote(path)),) for path in files.inputFiles()]
    empty = spark.createDataFrame(found, "path string").join(files.select("path"), "path", "left_anti")
    empty = empty.select("path", functions.lit(b"").alias("content"))
    parts = [(small, False), (large, True), (empty, False)]
    marked = [part.withColumn("too_large", functions.lit(too_large)) for part, too_large in parts]
    return _rows(reduce(lambda one, other: one.unionByName(other), marked), keys, _tables.roots(paths, root))


def chunk(frame: Any, *, text: str = "text", name: str = "name", **keys: Unpack[Keys]) -> Any:
    """Cut the texts of a frame: `text` is the column of texts, or of bytes, and `name` that of their names.

    A name is a document's `doc_id` and tells its format. Rows and keywords are those of `chunk_files`.
    """
    _tables.check(keys)
    return _rows(frame.select(name, text), keys)


def _rows(documents: Any, keys: Any, folders: Sequence[str] | None = None) -> Any:
    arrow = library("pyarrow")
    schema = _signed(_tables.schema())
    keys = {"threads": 1, **keys}

    def cut(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            documents = _tables.documents(batch.columns, folders)
            for rows in _tables.cut(documents, keys, files=folders is not None):
                yield from rows.cast(schema).to_batches()

    types = library("pyspark.sql.pandas.types")
    return documents.mapInArrow(cut, types.from_arrow_schema(schema))


def _signed(schema: Any) -> Any:
    """A schema with 64-bit numbers in the place of unsigned ones."""
    arrow = library("pyarrow")

    def signed(kind: Any) -> Any:
        if arrow.types.is_unsigned_integer(kind):
            return arrow.int64()
        if arrow.types.is_struct(kind):
            return arrow.struct([kind.field(at).with_type(signed(kind.field(at).type)) for at in range(kind.num_fields)])
        return kind

    return arrow.schema([field.with_type(signed(field.type)) for field in schema])


def embed(
    rows: Any,
    embedder: Any,
    /,
    *,
    vectors: str,
    model: str | None = None,
    known: Any = None,
    token_limit: int | None = None,
    batch_size: int = 64,
    retries: int | None = None,
    calls_per_minute: float | None = None,
    buckets: int = 64,
    **keys: Unpack[Keys],
) -> Any:
    """Embed the texts of rows, each once: the rows with `vector`, `vector_model` and `vector_reason`.

    Arguments are those of `chunkwright.daft.embed`; GPUs are those of the session's resource profile.
    """
    arrow, types = library("pyarrow"), library("pyspark.sql.pandas.types")
    options = _vectors.options(
        batch_size=batch_size, calls_per_minute=calls_per_minute, buckets=buckets, retries=retries
    )
    stage = _vectors.prepared(_vectors.stage(embedder, vectors, model, options, keys), known)
    schema = types.to_arrow_schema(rows.schema)
    with_bucket = schema.append(arrow.field(_vectors.BUCKET, arrow.int32()))
    with_vectors = arrow.schema([*schema, *_vectors.added()])

    def dealt(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from _vectors.dealt(arrow.Table.from_batches([batch]), stage).cast(with_bucket).to_batches()

    def counted(group: Any) -> Any:
        return arrow.table({"tokens": [stage.tokens(group)]})

    def embedded(group: Any) -> Any:
        return stage.rows(group.drop_columns([_vectors.BUCKET])).cast(with_vectors)

    groups = rows.mapInArrow(dealt, types.from_arrow_schema(with_bucket)).groupBy(_vectors.BUCKET)
    if token_limit is not None:
        tokens = groups.applyInArrow(counted, "tokens bigint").groupBy().sum("tokens").first()[0]
        _vectors.bound(tokens or 0, token_limit)
    return groups.applyInArrow(embedded, types.from_arrow_schema(with_vectors))


def listing(spark: Any, paths: str | list[str], *, root: str | None = None, **keys: Unpack[Keys]) -> Any:
    """The files of paths and folders, as `chunkwright.daft.listing`."""
    return spark.createDataFrame(_changes.listed(paths, root, keys).select(_changes.STAMP))


def update(
    spark: Any, paths: str | list[str], *, rows: Any, listed: Any, root: str | None = None, **keys: Unpack[Keys]
) -> _changes.Update:
    """Bring rows of files up to date, as `chunkwright.daft.update`."""

    def cut(changed: list[str]) -> Any:
        escaped = [re.sub(r"([*?\[\]{}\\])", r"\\\1", path) for path in changed]
        return chunk_files(spark, escaped, root=root or _tables.roots(paths, None)[-1], **keys)

    def frame(table: Any) -> Any:
        schema = _signed(table.schema)
        if table.num_rows:
            return spark.createDataFrame(table.cast(schema))
        return spark.createDataFrame([], library("pyspark.sql.pandas.types").from_arrow_schema(schema))

    engine = _changes.Frames(
        of=frame,
        tables=lambda frame: [frame.toArrow()],
        join=lambda left, right, on, how: left.join(right, on, how),
        select=lambda frame, columns: frame.select(*columns),
        union=lambda one, other: one.unionByName(other),
        cut=cut,
    )
    return _changes.update(engine, _changes.listed(paths, root, keys), rows, listed)
