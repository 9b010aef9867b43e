"""Haystack: a splitter and a retriever as components of pipelines.

from chunkwright.haystack import ChunkwrightSplitter

documents = ChunkwrightSplitter(max_size=512).run(documents)["documents"]
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import deserialize_callable, serialize_callable
except ImportError as error:
    raise ImportError("this needs Haystack; install it with `pip install haystack-ai`") from error

from . import _adapters
from ._index import Hit, Index

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Options

SOURCES = ("file_path", "source", "url")


def document_of(
    record: Mapping[str, Any], page: _adapters.Page = "text", above: Mapping[str, Any] | None = None
) -> Document:
    """The document of a chunk: its id is `chunk_id`."""
    meta = _adapters.flat(record, start="split_idx_start", end="split_idx_end", above=above)
    meta["split_id"] = record["chunk_index"]
    meta.setdefault("source_id", record["doc_id"])
    return Document(id=record["chunk_id"], content=record[page], meta=meta)


@component
class ChunkwrightSplitter:
    """Splits documents into chunks; `meta["file_path"]`, `meta["source"]` or `meta["url"]` determines the format of
    each.

        splitter = ChunkwrightSplitter(max_size=512)
        chunks = splitter.run(documents)["documents"]

    Keywords are keys of the settings. `name` is a file name that determines the format of documents whose source does
    not; the default is Markdown. With `root`, files below that folder have the same ids as in
    `chunkwright.chunk(root)`. Let converters store the full path (`store_full_path=True`): it distinguishes files
    with the same name.

    Each chunk has the meta of its document plus `chunk_id`, `doc_id`, `chunk_index`, `total_chunks`, `start_line`,
    `end_line`, `header_path`, `token_count`, `content_type`, `language`, and as with other splitters `source_id` (the
    id of the document), `split_id`, `split_idx_start` and `split_idx_end` (its content, in characters of the
    document); `id` is `chunk_id`. `content` is the chunk's `text`, which includes the headings above it; with
    `content="content"` it is exactly the source from `split_idx_start` to `split_idx_end`.

    Haystack loads serialized pipelines only from modules that are allowed:
    `Pipeline.loads(text, allowed_modules=["chunkwright.haystack"])`.

    Raises `SettingsError` for an unknown key or an invalid value.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        root: str | os.PathLike[str] | None = None,
        content: _adapters.Page = "text",
        **settings: Unpack[Keys],
    ) -> None:
        self._cutter = _adapters.Cutter(name, root, content, settings)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Split documents.

        Returns `documents`, the chunks in order. Raises `TypeError` if `documents` is not a list of documents, and
        `ValueError` for a document without text.
        """
        if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
            raise TypeError("`documents` must be a list of `haystack.Document`")
        given: list[_adapters.Document] = []
        for one in documents:
            if one.content is None:
                raise ValueError(f"document `{one.id}` has no text in `content`; convert it before it is split")
            given.append(self._cutter.document(one.content, one.meta, SOURCES, None))
        chunks = [
            document_of(record, self._cutter.page, {**copy.deepcopy(one.meta), "source_id": one.id})
            for records, one in zip(self._cutter.cut(given), documents, strict=True)
            for record in records
        ]
        return {"documents": chunks}

    def to_dict(self) -> dict[str, Any]:
        """The component as a dictionary. Functions among the settings are serialized by name."""
        cutter = self._cutter
        settings = {key: _written(value) for key, value in cutter.settings.items()}
        return default_to_dict(self, name=cutter.name, root=cutter.root, content=cutter.page, **settings)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChunkwrightSplitter:
        """The component of a dictionary."""
        data = copy.deepcopy(data)
        parameters = data.get("init_parameters", {})
        data["init_parameters"] = {key: _read(value) for key, value in parameters.items()}
        return default_from_dict(cls, data)


def _written(value: Any) -> Any:
    return {"function": serialize_callable(value)} if callable(value) else value


def _read(value: Any) -> Any:
    return deserialize_callable(value["function"]) if isinstance(value, dict) and set(value) == {"function"} else value


@component
class ChunkwrightRetriever:
    """Retrieves from a `chunkwright.Index`; `index` is one, or a dictionary of the keywords that open it.

        retriever = ChunkwrightRetriever(index, k=5)
        retriever.run("how are hives fed?")["documents"]

    Keywords are search options. Documents are those of `ChunkwrightSplitter`, with their score and, if known,
    `relevance` (0 to 1) in their meta.
    """

    def __init__(self, index: Index | dict[str, Any], **options: Unpack[Options]) -> None:
        self._keys = index if isinstance(index, dict) else None
        self._index = Index(**index) if isinstance(index, dict) else index
        self._options: dict[str, Any] = {**options}

    @component.output_types(documents=list[Document])
    def run(self, query: str, options: dict[str, Any] | None = None) -> dict[str, list[Document]]:
        """Search, with `options` for this search only. Returns `documents`, best first."""
        return {
            "documents": [
                found(hit) for hit in self._index.search(query, **{**self._options, **(options or {}), "text": True})
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, options: dict[str, Any] | None = None) -> dict[str, list[Document]]:
        """Like `run`, without blocking the event loop."""
        hits = await self._index.asearch(query, **{**self._options, **(options or {}), "text": True})
        return {"documents": [found(hit) for hit in hits]}

    def to_dict(self) -> dict[str, Any]:
        """The component as a dictionary. An open index is serialized as its store and collection, read-only."""
        opened = {"store": self._index.store, "collection": self._index.collection, "read_only": True}
        return default_to_dict(self, index=opened if self._keys is None else self._keys, **self._options)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChunkwrightRetriever:
        """The component of a dictionary."""
        return default_from_dict(cls, data)


def found(hit: Hit) -> Document:
    """The document of a hit."""
    document = document_of(hit)
    known = {"relevance": hit["relevance"]} if "relevance" in hit else {}
    return replace(document, score=hit.get("score"), meta={**document.meta, **known})
