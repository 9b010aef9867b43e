"""The common part of the adapters: document ids, cutting documents in one call, and flat metadata of chunks."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from . import _chunkwright

Page = Literal["text", "content"]

#: Name of a document without one.
NAME = "document.md"

#: Fields of a record that identify and locate a chunk, besides its offsets.
PLACE = ("chunk_id", "doc_id", "chunk_index", "total_chunks", "start_line", "end_line", "header_path", "token_count")
#: Fields of a record that describe a chunk; metadata of the document with the same name takes precedence.
KIND = ("content_type", "language")


def flat(record: Mapping[str, Any], *, start: str, end: str, above: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Metadata of a chunk: strings and integers under a fixed set of keys, which every vector store accepts.

    `start` and `end` are the keys for the offsets of its content, in characters. `above` is the metadata of its
    document.
    """
    metadata: dict[str, Any] = {key: record.get(key) or "" for key in KIND}
    metadata.update(above or {})
    metadata.update((key, record[key]) for key in PLACE)
    metadata[start] = record["start_char"]
    metadata[end] = record["end_char"]
    return metadata


@dataclass(frozen=True)
class Document:
    """A document to cut. `hint` is a file name that determines its format."""

    doc_id: str
    text: str
    hint: str


class Cutter:
    """Cuts documents of another library.

    `name` is a file name that determines the format of documents whose source does not; the default is Markdown. With
    `root`, the `doc_id` of a file below that folder is its path relative to it, as in `chunkwright.chunk(root)`;
    otherwise it is the path as given.
    """

    def __init__(
        self, name: str | None, root: str | os.PathLike[str] | None, page: Page, settings: Mapping[str, Any]
    ) -> None:
        if page not in ("text", "content"):
            raise ValueError(f"unknown page content `{page}`; expected `text` or `content`")
        self.name = name
        self.root = None if root is None else os.fspath(root)
        self.page: Page = page
        self.settings = dict(settings)
        # Reports an unknown key or value now instead of at the first document.
        _chunkwright.chunk_text("", name=name or NAME, **self.settings)

    def document(self, text: str, metadata: Mapping[str, Any], keys: Iterable[str], own_id: str | None) -> Document:
        """A document, named by the first of `keys` in its metadata, else by its own id, else by `name`."""
        name = self.name or NAME
        source = next((str(metadata[key]) for key in keys if metadata.get(key)), None)
        if source is None:
            return Document(own_id or name, text, name)
        doc_id = identify(source, self.root)
        page = next((metadata[key] for key in PAGES if metadata.get(key) not in (None, "")), None)
        hint = urlsplit(source).path if "://" in source else source.replace("\\", "/")
        if not posixpath.splitext(hint)[1] and (self.name or "://" in source):
            hint = name
        return Document(doc_id if page is None else f"{doc_id}#page={page}", text, hint)

    def cut(self, documents: Sequence[Document]) -> list[list[dict[str, Any]]]:
        """The records of each document. A repeated `doc_id` gets a number, so that chunk ids stay distinct."""
        by_id: dict[str, list[dict[str, Any]]] = {}
        sources: list[dict[str, Any]] = []
        times: dict[str, int] = {}
        for document in documents:
            doc_id = document.doc_id
            while doc_id in by_id:
                times[document.doc_id] = times.get(document.doc_id, 1) + 1
                doc_id = f"{document.doc_id}#{times[document.doc_id]}"
            by_id[doc_id] = []
            sources.append({"doc_id": doc_id, "text": document.text, "hint": {"file_name": document.hint}})
        for record in self._records(sources) if sources else ():
            by_id[record["doc_id"]].append(record)
        return list(by_id.values())

    def _records(self, sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for source in sources:
            # PDF readers leave them in texts; several make a text look like UTF-16.
            if source["text"].count("\0") > 1:
                source["text"] = source["text"].replace("\0", UNKNOWN)
        try:
            return _chunkwright.chunk(sources, **self.settings).dicts()
        except UnicodeEncodeError:
            # Lone surrogates, which PDF readers also leave in texts.
            mended = [{**source, "text": re.sub("[\\ud800-\\udfff]", UNKNOWN, source["text"])} for source in sources]
            return _chunkwright.chunk(mended, **self.settings).dicts()


#: Replaces characters that a text cannot hold. Offsets do not change.
UNKNOWN = "\ufffd"
#: Metadata keys of loaders that return each page of a file as a document.
PAGES = ("page", "page_number", "page_label")


def identify(source: str, root: str | None) -> str:
    """The `doc_id` of a source: a URL unchanged, a path with `/` as separator and without `.` and `..`."""
    if "://" in source:
        return source
    if root is not None:
        path = os.path.relpath(source, root)
        if path != os.pardir and not path.startswith(os.pardir + os.sep):
            return path.replace("\\", "/")
    path = posixpath.normpath(source.replace("\\", "/"))
    # A path that leads upward depends on the working folder: use the absolute one.
    return os.path.abspath(source).replace("\\", "/") if path.split("/")[0] == ".." else path
