"""Cuts tables of documents into tables of chunks: what the batch engines have in common.

Every document has a row: its chunks, or one row with the reason that it has none. Rows depend on the name and the bytes of
their document alone, so any partitioning gives the same rows.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import _chunkwright
from ._chunkwright import Chunks
from ._errors import ChunkwrightError, SettingsError
from ._frames import library

#: Number of documents that an engine passes at once.
BATCH = 64
#: Bytes of documents that are cut at once: with their chunks they take a few times as much memory.
BYTES = 16 << 20


#: Errors of a file system that are the fault of a name. Others, such as a full disk, end the job.
OF_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)


class _Unread(Exception):
    """Why documents cannot be cut together, or one not at all."""


class Document(NamedTuple):
    """A document of a table."""

    name: str | None
    content: str | bytes | None
    #: Whether it was not read because it is larger than the limit.
    too_large: bool = False


class Other(NamedTuple):
    """A document without chunks."""

    doc_id: str | None
    outcome: str
    reason: str


@cache
def schema() -> Any:
    """The columns of a row: those of a chunk, then `outcome` (`chunk`, `empty`, `left_out` or `failed`) and `reason`.

    All of them may be null, since a document without chunks has no position.
    """
    arrow = library("pyarrow")
    fields = [_nullable(field) for field in arrow.table(_chunkwright.chunk_text("", name="a.md")).schema]
    return arrow.schema([*fields, arrow.field("outcome", arrow.string()), arrow.field("reason", arrow.string())])


def _nullable(field: Any) -> Any:
    arrow = library("pyarrow")
    kind = field.type
    if arrow.types.is_struct(kind):
        kind = arrow.struct([_nullable(kind.field(at)) for at in range(kind.num_fields)])
    elif arrow.types.is_list(kind):
        kind = arrow.list_(_nullable(kind.value_field))
    return arrow.field(field.name, kind)


def check(keys: Mapping[str, Any]) -> None:
    """Raises what is wrong with the settings before an engine starts."""
    _chunkwright.chunk_text("", name="a.md", **keys)


def cut(documents: Iterable[Document], keys: Mapping[str, Any], *, files: bool) -> Iterator[Any]:
    """Tables of rows, of at most `BYTES` of documents each.

    `files` are named and left out as those of a folder are, which leaves out keys and lock files, for instance.
    """
    batch: list[Document] = []
    size = 0
    for document in documents:
        length = len(document.content or "")
        if batch and size + length > BYTES:
            yield _table(batch, keys, files)
            batch, size = [], 0
        batch.append(document)
        size += length
    if batch:
        yield _table(batch, keys, files)


def _table(batch: Sequence[Document], keys: Mapping[str, Any], files: bool) -> Any:
    arrow = library("pyarrow")
    others, whole = [], []
    for one in batch:
        if one.name is None:
            others.append(Other(None, "failed", "it has no name"))
        elif one.too_large:
            others.append(Other(_id(one, files), "left_out", "too_large"))
        elif one.content is None:
            others.append(Other(_id(one, files), "failed", "it could not be read" if files else "its text is null"))
        else:
            whole.append(one)
    tables = [_chunk_rows(chunks) for chunks in _cut(whole, keys, files, others)]
    names = schema().names
    absent = {name: [getattr(other, name, None) for other in others] for name in names}
    return arrow.concat_tables([*tables, arrow.table(absent, schema=schema())]).combine_chunks()


def _id(document: Document, files: bool) -> str:
    name = document.name or ""
    return _chunkwright.doc_id(name) if files else name


def _chunk_rows(chunks: Any) -> Any:
    arrow = library("pyarrow")
    rows = chunks.num_rows
    columns = [chunks[field.name].cast(field.type) for field in list(schema())[:-2]]
    columns += [arrow.repeat("chunk", rows), arrow.nulls(rows, arrow.string())]
    return arrow.Table.from_arrays(columns, schema=schema())


def _cut(documents: Sequence[Document], keys: Mapping[str, Any], files: bool, others: list[Other]) -> Iterator[Any]:
    """Tables of chunks. Documents without one are added to `others`."""
    if not documents:
        return
    ids = [_id(one, files) for one in documents]
    try:
        chunks = _read(documents, keys) if files else _chunkwright.chunk(_sources(documents), **keys)
    except SettingsError:
        raise
    except (ChunkwrightError, _Unread) as error:
        if len(documents) == 1:
            others.append(Other(ids[0], "failed", str(error)))
            return
        # One of them is at fault, or two have one name.
        for one in documents:
            yield from _cut([one], keys, files, others)
        return
    table = library("pyarrow").table(chunks)
    cut = set(table["doc_id"].unique().to_pylist())
    skipped = {entry["path"]: entry["reason"] for entry in (chunks.report or {})["skipped"]}
    for doc_id in ids:
        if doc_id not in cut:
            # A folder that is left out is one entry.
            ends = [match.start() for match in re.finditer("/", doc_id)] + [len(doc_id)]
            reason = next((skipped[doc_id[:end]] for end in ends if doc_id[:end] in skipped), None)
            others.append(Other(doc_id, "left_out", reason) if reason else Other(doc_id, "empty", "it has no text"))
    yield table


def _sources(documents: Sequence[Document]) -> list[dict[str, Any]]:
    if len({one.name for one in documents}) < len(documents):
        raise _Unread("a name is there twice")
    return [{"doc_id": one.name, "text": one.content} for one in documents]


def _read(documents: Sequence[Document], keys: Mapping[str, Any]) -> Chunks:
    """The chunks of files, by way of a folder: it decides what is left out, and what a document is called."""
    with tempfile.TemporaryDirectory(prefix="chunkwright-") as folder:
        folder = os.path.realpath(folder)
        for one in documents:
            name = one.name or ""
            if "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
                raise _Unread(f"`{name}` is not a relative path")
            path = Path(folder, name)
            content = one.content or b""
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    file.write(content.encode() if isinstance(content, str) else content)
            except OSError as error:
                if error.errno not in OF_NAMES:
                    raise
                raise _Unread(error.strerror) from error
        try:
            return _chunkwright.chunk(folder, **{**keys, "no_ignore": True})
        except SettingsError:
            raise
        except ChunkwrightError as error:
            raise _Unread(str(error).replace(f"{folder}{os.sep}", "")) from error


def documents(columns: Sequence[Any], folders: Sequence[str] | None = None) -> Iterator[Document]:
    """The documents of columns in the order of `Document`: names, contents, and perhaps whether they are too large.

    With `folders`, the names are paths below one of them.
    """
    for name, *others in zip(*columns, strict=True):
        name = name.as_py()
        yield Document(name if folders is None else name_of(name, folders), *(value.as_py() for value in others))


def lists(tables: Iterable[Any], number: int) -> Any:
    """The rows of `number` documents as that many lists, none of them empty, since each document has a row."""
    arrow = library("pyarrow")
    rows = arrow.concat_tables([schema().empty_table(), *tables]).combine_chunks()
    values = arrow.StructArray.from_arrays([one.combine_chunks() for one in rows.columns], fields=list(schema()))
    return arrow.ListArray.from_arrays(arrow.array([*range(number), len(values)], arrow.int32()), values)


def limit(keys: Mapping[str, Any]) -> int:
    """The size in bytes above which a file is not read."""
    given = keys.get("max_filesize") or _chunkwright.keys()["properties"]["max_filesize"]["default"]
    number, unit = re.fullmatch(r"(\d+)([KMG]?)", str(given).strip().upper()).groups()  # type: ignore[union-attr]
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]


def listing(paths: str | Sequence[str], filesystem: Any = None) -> list[tuple[str, int, int]]:
    """The files of paths and folders, in order: path, bytes, and modification time in nanoseconds since 1970.

    Unlike those of some engines, it has files whose names begin with `_` or `.`, too.
    """
    fs = library("pyarrow.fs")
    found: dict[str, tuple[int, int]] = {}
    for path in [paths] if isinstance(paths, str) else paths:
        files, start = (filesystem, path) if filesystem else fs.FileSystem.from_uri(path if "://" in path else os.path.abspath(path))
        about = files.get_file_info(start.rstrip("/"))
        if about.type == fs.FileType.NotFound:
            raise FileNotFoundError(f"`{path}` does not exist; give a file or a folder")
        below = files.get_file_info(fs.FileSelector(about.path, recursive=True)) if about.type == fs.FileType.Directory else [about]
        prefix = path[: len(path) - len(start)] if path.endswith(start) else ""
        found.update((prefix + file.path, (file.size, file.mtime_ns)) for file in below if file.type == fs.FileType.File)
    return [(path, *found[path]) for path in sorted(found)]


def plain(path: str) -> str:
    """A path or URL without its scheme: engines write `file:/a`, `file:///a` and `/a`, and `file://a` for a relative path."""
    scheme, colon, rest = path.partition(":")
    if not (colon and re.fullmatch("[A-Za-z][A-Za-z0-9+.-]+", scheme)):
        return path
    return rest.removeprefix("//") if scheme == "file" else rest.lstrip("/")


def roots(paths: str | Sequence[str], root: str | None) -> list[str]:
    """The folders that names are relative to, the longest first: `root`, or of each path what is before its first wildcard."""
    given = [paths] if isinstance(paths, str) else list(paths)
    folders = []
    for path in given if root is None else [root]:
        is_folder = root is not None or path.endswith("/") or ("://" not in path and os.path.isdir(path))
        fixed, slash, _ = re.split(r"[*?\[{]", path, maxsplit=1)[0].rpartition("/")
        folders.append(path.rstrip("/") + "/" if is_folder else fixed + slash)
    # Engines pass on what they were given, or make paths absolute.
    absolute = [os.path.realpath(folder).rstrip("/") + "/" for folder in folders if ":" not in folder.split("/")[0]]
    return sorted({*map(plain, folders), *absolute}, key=lambda one: (-len(one), one))


def name_of(path: str | None, folders: Sequence[str]) -> str | None:
    """The name of a file: its path below the folder that it is in."""
    if path is None:
        return None
    path = plain(path)
    return next((path[len(folder) :] for folder in folders if path.startswith(folder)), path)
