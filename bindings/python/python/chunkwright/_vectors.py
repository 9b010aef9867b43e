"""Embeds the texts of rows, each once: what the batch engines have in common.

Texts are dealt into buckets by their hashes, and one task at a time has a bucket. Its vectors are Parquet files in a folder
of the bucket, written after each call of the embedder: the task that comes after one that died reads them first. So no
text is embedded twice, and no task needs to know of another.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _chunkwright
from ._frames import library
from ._stores import embedder_of, vector_of
from ._targets import digest


#: The column by which rows are dealt.
BUCKET = "_bucket"


@dataclass(frozen=True)
class Stage:
    """How texts are embedded, and where their vectors are."""

    embed: Callable[[list[str]], Any]
    #: A name for the vectors: those of other names are not used.
    model: str
    #: Folder of the vectors, a path or a URL.
    vectors: str
    batch_size: int = 64
    retries: int = 4
    calls_per_minute: float | None = None
    buckets: int = 64

    def bucket(self, texts: Sequence[str | None]) -> list[int]:
        """The bucket of each text."""
        return [int(digest(text or "")[:8], 16) % self.buckets for text in texts]

    def rows(self, table: Any) -> Any:
        """The rows of one bucket, with their vectors."""
        arrow = library("pyarrow")
        texts = {digest(text): text for text in table["text"].to_pylist() if text}
        found = self._vectors(texts)
        hashes = [digest(text) if text else None for text in table["text"].to_pylist()]
        some = [found.get(one, (None, None)) if one else (None, "it has no text") for one in hashes]
        columns = ([vector for vector, _ in some], [self.model] * len(some), [reason for _, reason in some])
        for field, values in zip(added(), columns, strict=True):
            table = table.append_column(field, arrow.array(values, field.type))
        return table

    def tokens(self, table: Any) -> int:
        """Tokens of the texts of a bucket that have no vector yet."""
        columns = (table[name].to_pylist() for name in ("text", "token_count"))
        counts = {digest(text): count for text, count in zip(*columns, strict=True) if text}
        known = self._folder(next(iter(counts))).read() if counts else {}
        return sum(count or 0 for key, count in counts.items() if key not in known)

    def adopt(self, known: Any) -> None:
        """Keeps vectors that were made elsewhere: a Parquet file, or a table, with the columns `text` and `vector`."""
        is_file = isinstance(known, (str, os.PathLike))
        table = library("pyarrow.parquet").read_table(known) if is_file else library("pyarrow").table(known)
        columns = (table[name].to_pylist() for name in ("text", "vector"))
        buckets: dict[int, dict[str, Vector]] = {}
        for text, vector in zip(*columns, strict=True):
            if text and vector is not None:
                buckets.setdefault(self.bucket([text])[0], {})[digest(text)] = (vector, None)
        for vectors in buckets.values():
            folder = self._folder(next(iter(vectors)))
            held = folder.read()
            if new := {key: vector for key, vector in vectors.items() if key not in held}:
                folder.write(new)

    def _folder(self, key: str) -> Folder:
        name = re.sub(r"[^\w.-]", "_", self.model)
        return Folder(self.vectors, f"{name}/{self.buckets}-{int(key[:8], 16) % self.buckets:04}")

    def _vectors(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        if not texts:
            return {}
        folder = self._folder(next(iter(texts)))
        found = folder.read()
        # A batch is as slow as its longest text.
        missing = sorted(texts.keys() - found.keys(), key=lambda key: (len(texts[key]), key))
        for start in range(0, len(missing), self.batch_size):
            batch = {key: texts[key] for key in missing[start : start + self.batch_size]}
            for made in self._embed(batch, self.retries):
                folder.write(made)
                found.update(made)
        folder.merge(found)
        return found

    def _embed(self, texts: Mapping[str, str], retries: int) -> Iterator[dict[str, Vector]]:
        """The vectors of texts by their keys, as they come. A text that has none by itself has the reason; an outage is
        raised."""
        try:
            vectors = self._call(list(texts.values()), retries)
        except Exception as error:
            if len(texts) == 1:
                # Whether the text is at fault or the embedder.
                self._call(["dimension"], retries)
                yield {key: (None, f"{type(error).__name__}: {error}") for key in texts}
                return
            halves = list(texts.items())
            middle = len(halves) // 2
            for half in (halves[:middle], halves[middle:]):
                yield from self._embed(dict(half), min(retries, 1))
        else:
            yield {key: (vector, None) for key, vector in zip(texts, vectors, strict=True)}

    def _call(self, texts: list[str], retries: int) -> list[list[float]]:
        for attempt in range(retries + 1):
            try:
                self._wait()
                vectors = [vector_of(vector) for vector in self.embed(texts)]
                if len(vectors) != len(texts):
                    raise ValueError(
                        f"the embedder returned {len(vectors)} vectors for {len(texts)} texts; expected one for each"
                    )
                return vectors
            except Exception:
                if attempt == retries:
                    raise
                time.sleep(random.uniform(0, min(60.0, 2.0**attempt)))
        raise AssertionError("the loop returns or raises")

    def _wait(self) -> None:
        """Waits until the next call is allowed in this process."""
        global _next_call
        if self.calls_per_minute:
            time.sleep(max(0.0, _next_call - time.monotonic()))
            _next_call = time.monotonic() + 60 / self.calls_per_minute


#: When the next call of a process with a limit is allowed.
_next_call = 0.0
Vector = tuple[list[float] | None, str | None]


def added() -> list[Any]:
    """The columns that the stage adds to rows."""
    arrow = library("pyarrow")
    vector = arrow.field("vector", arrow.list_(arrow.float32()))
    return [vector, arrow.field("vector_model", arrow.string()), arrow.field("vector_reason", arrow.string())]


def dealt(table: Any, stage: Stage) -> Any:
    """A table with the bucket of each row."""
    arrow = library("pyarrow")
    return table.append_column(BUCKET, arrow.array(stage.bucket(table["text"].to_pylist()), arrow.int32()))


def structs(table: Any) -> Any:
    """The rows of a table as one column."""
    columns = [column.combine_chunks() for column in table.columns]
    return library("pyarrow").StructArray.from_arrays(columns, fields=list(table.schema))


def prepared(stage: Stage, known: Any) -> Stage:
    """A stage that has adopted what is known."""
    if known is not None:
        stage.adopt(known)
    return stage


def options(**given: Any) -> dict[str, Any]:
    """The options of a stage that are given."""
    return {name: value for name, value in given.items() if value is not None}


def bound(tokens: int, most: int) -> None:
    """Raises if more tokens than `most` would be embedded."""
    if tokens > most:
        raise ValueError(f"{tokens:,} tokens have no vector yet, more than `token_limit` allows ({most:,}); nothing was embedded")


def stage(embedder: Any, vectors: str, model: str | None, options: Mapping[str, Any], keys: Mapping[str, Any]) -> Stage:
    """The stage of an embedder: a name that the key `embedder` takes, a function, or an object that embeds."""
    if isinstance(embedder, str):
        keys = {**keys, "embedder": embedder}
        name, _ = _chunkwright.embed([], **keys)
        # The engine itself calls a service again.
        return Stage(Spec(keys), model or name, vectors, **{"retries": 0, **options})
    embed = embedder_of(embedder)
    if embed is None:
        raise ValueError("`embedder` is missing; give a name, a function from a list of texts to vectors, or an object that embeds")
    names = (getattr(embedder, name, None) for name in ("name", "model_name", "model", "__name__"))
    name = model or next((name for name in names if isinstance(name, str) and name), type(embedder).__qualname__)
    return Stage(embed, name, vectors, **options)


@dataclass(frozen=True)
class Spec:
    """An embedder of the engine, by its keys. It is loaded where it is called."""

    keys: Mapping[str, Any]

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return _chunkwright.embed(texts, **self.keys)[1]


class Folder:
    """Vectors of a bucket as Parquet files, on a disk or in an object store. A file is there whole or not at all."""

    def __init__(self, base: str, name: str) -> None:
        fs = library("pyarrow.fs")
        self.files, path = fs.FileSystem.from_uri(base if "://" in base else os.path.abspath(base))
        self.is_local = isinstance(self.files, fs.LocalFileSystem)
        self.path = f"{path.rstrip('/')}/{name}"
        #: The files that this task has read or written.
        self.known: set[str] = set()

    def names(self) -> list[str]:
        selector = library("pyarrow.fs").FileSelector(self.path, allow_not_found=True)
        return sorted(file.path for file in self.files.get_file_info(selector) if file.path.endswith(".parquet"))

    def read(self) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        for name in self.names():
            self.known.add(name)
            table = library("pyarrow.parquet").read_table(name, filesystem=self.files)
            columns = (table[column].to_pylist() for column in ("text_hash", "vector", "reason"))
            found.update((key, (vector, reason)) for key, vector, reason in zip(*columns, strict=True))
        return found

    def write(self, vectors: Mapping[str, Vector]) -> str:
        arrow = library("pyarrow")
        columns = [list(vectors), *map(list, zip(*vectors.values(), strict=True))]
        table = arrow.table(columns, schema=arrow.schema([("text_hash", arrow.string()), added()[0], ("reason", arrow.string())]))
        self.files.create_dir(self.path)
        path = f"{self.path}/{digest(' '.join(sorted(vectors)))}.parquet"
        written = f"{path}.{os.getpid()}.new" if self.is_local else path
        library("pyarrow.parquet").write_table(table, written, filesystem=self.files, compression="zstd")
        if self.is_local:
            self.files.move(written, path)
        self.known.add(path)
        return path

    def merge(self, vectors: Mapping[str, Vector]) -> None:
        """Puts the files together in one, so that there are as many as buckets."""
        if len(self.known) > 1:
            parts = self.known - {self.write(vectors)}
            for name in parts:
                self.files.delete_file(name)
