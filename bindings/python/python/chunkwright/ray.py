"""Ray Data: chunks of files, of objects of a store, and of a column of texts, as a lazy dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    filesystem: Any = None,
    num_cpus: float = 0.5,
    batch_size: int = _tables.BATCH,
    **keys: Unpack[Keys],
) -> Any:
    """Cut files: a dataset with a row for each chunk, and one for each file without chunks.

    `paths` are files, folders or URLs such as `s3://bucket/docs/`, with `filesystem` for their store. The rows are those of
    `chunkwright.daft.chunk_files`. A task takes `num_cpus`, which leaves processors to what reads, and uses one thread.
    """
    ray_data = library("ray.data")
    _tables.check(keys)
    # By itself, Ray does not list files whose names begin with `_` or `.`, which would have no row.
    found = [path for path, _, _ in _tables.listing(paths, filesystem)]
    files = ray_data.read_binary_files(found, filesystem=filesystem, include_paths=True)
    return _rows(files, ["path", "bytes"], num_cpus, batch_size, keys, _tables.roots(paths, root))


def chunk(
    dataset: Any,
    *,
    text: str = "text",
    name: str = "name",
    num_cpus: float = 0.5,
    batch_size: int = _tables.BATCH,
    **keys: Unpack[Keys],
) -> Any:
    """Cut the texts of a dataset: `text` is the column of texts, or of bytes, and `name` that of their names.

    A name is a document's `doc_id` and tells its format. Rows and keywords are those of `chunk_files`.
    """
    _tables.check(keys)
    return _rows(dataset.select_columns([name, text]), [name, text], num_cpus, batch_size, keys)


def _rows(
    dataset: Any,
    columns: list[str],
    num_cpus: float,
    batch_size: int,
    keys: Any,
    folders: Sequence[str] | None = None,
) -> Any:
    keys = {"threads": 1, **keys}

    def cut(batch: Any) -> Iterator[Any]:
        documents = _tables.documents([batch[column] for column in columns], folders)
        yield from _tables.cut(documents, keys, files=folders is not None)

    return dataset.map_batches(cut, batch_size=batch_size, batch_format="pyarrow", num_cpus=num_cpus)


def embed(
    rows: Any,
    embedder: Any,
    /,
    *,
    vectors: str,
    model: str | None = None,
    known: Any = None,
    num_cpus: float = 0.5,
    num_gpus: float = 0,
    token_limit: int | None = None,
    batch_size: int = 64,
    retries: int | None = None,
    calls_per_minute: float | None = None,
    buckets: int = 64,
    **keys: Unpack[Keys],
) -> Any:
    """Embed the texts of rows, each once: the rows with `vector`, `vector_model` and `vector_reason`.

    Arguments are those of `chunkwright.daft.embed`.
    """
    arrow = library("pyarrow")
    options = _vectors.options(
        batch_size=batch_size, calls_per_minute=calls_per_minute, buckets=buckets, retries=retries
    )
    stage = _vectors.prepared(_vectors.stage(embedder, vectors, model, options, keys), known)

    def dealt(batch: Any) -> Any:
        return _vectors.dealt(batch, stage)

    def counted(group: Any) -> Any:
        return arrow.table({"tokens": [stage.tokens(group)]})

    def embedded(group: Any) -> Any:
        return stage.rows(group.drop_columns([_vectors.BUCKET]))

    groups = rows.map_batches(dealt, batch_format="pyarrow", num_cpus=num_cpus).groupby(_vectors.BUCKET)
    if token_limit is not None:
        tokens = groups.map_groups(counted, batch_format="pyarrow", num_cpus=num_cpus).sum("tokens")
        _vectors.bound(tokens or 0, token_limit)
    return groups.map_groups(embedded, batch_format="pyarrow", num_cpus=num_cpus, num_gpus=num_gpus)


def listing(paths: str | list[str], *, root: str | None = None, filesystem: Any = None, **keys: Unpack[Keys]) -> Any:
    """The files of paths and folders, as `chunkwright.daft.listing`."""
    return library("ray.data").from_arrow(_changes.listed(paths, root, keys, filesystem).select(_changes.STAMP))


def update(
    paths: str | list[str],
    *,
    rows: Any,
    listed: Any,
    root: str | None = None,
    filesystem: Any = None,
    num_cpus: float = 0.5,
    partitions: int = 4,
    **keys: Unpack[Keys],
) -> _changes.Update:
    """Bring rows of files up to date, as `chunkwright.daft.update`. Joins have as many `partitions`."""
    ray, ray_data = library("ray"), library("ray.data")

    def union(one: Any, other: Any) -> Any:
        # A join moves columns, and makes large strings of strings.
        schema = _tables.schema()
        return one.map_batches(lambda rows: rows.select(schema.names).cast(schema), batch_format="pyarrow").union(other)

    def cut(changed: list[str]) -> Any:
        return chunk_files(changed, root=root or _tables.roots(paths, None)[-1], filesystem=filesystem, num_cpus=num_cpus, **keys)

    def join(left: Any, right: Any, on: list[str], how: str) -> Any:
        return left.join(right, f"left_{how}", partitions, on=tuple(on))

    engine = _changes.Frames(
        of=ray_data.from_arrow,
        tables=lambda frame: ray.get(frame.to_arrow_refs()),
        join=join,
        select=lambda frame, columns: frame.select_columns(columns),
        union=union,
        cut=cut,
    )
    return _changes.update(engine, _changes.listed(paths, root, keys, filesystem), rows, listed)
