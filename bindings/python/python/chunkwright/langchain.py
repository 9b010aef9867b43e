"""LangChain: a text splitter, a retriever, and keys for the indexing API.

from chunkwright.langchain import ChunkwrightSplitter

documents = ChunkwrightSplitter(max_size=512).split_documents(loader.load())
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise ImportError(
        "this needs LangChain; install it with `pip install langchain-core langchain-text-splitters`"
    ) from error

from . import _adapters
from ._index import Hit, Index

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Options

SOURCES = ("source", "file_path")


def document_of(
    record: Mapping[str, Any], page: _adapters.Page = "text", above: Mapping[str, Any] | None = None
) -> Document:
    """The document of a chunk: its id is `chunk_id`."""
    metadata = _adapters.flat(record, start="start_index", end="end_index", above=above)
    metadata.setdefault("source", record["doc_id"])
    return Document(id=record["chunk_id"], page_content=record[page], metadata=metadata)


class ChunkwrightSplitter(TextSplitter):
    """Splits documents into chunks; `metadata["source"]` or `metadata["file_path"]` determines the format of each.

        splitter = ChunkwrightSplitter(max_size=512)
        chunks = splitter.split_documents(loader.load())

    Keywords are keys of the settings. `name` is a file name that determines the format of documents whose source does
    not; the default is Markdown. With `root`, files below that folder have the same ids as in
    `chunkwright.chunk(root)`.

    Each chunk has the metadata of its document plus `chunk_id`, `doc_id`, `chunk_index`, `total_chunks`, `start_line`,
    `end_line`, `start_index`, `end_index` (its content, in characters of the text that was given), `header_path`,
    `token_count`, `content_type`, `language`; `id` is `chunk_id`. `page_content` is the chunk's `text`, which
    includes the headings above it; with `page_content="content"` it is exactly the source from `start_index` to
    `end_index`.

    Raises `SettingsError` for an unknown key or an invalid value.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        root: str | os.PathLike[str] | None = None,
        page_content: _adapters.Page = "text",
        **settings: Unpack[Keys],
    ) -> None:
        super().__init__(add_start_index=True)
        self._cutter = _adapters.Cutter(name, root, page_content, settings)

    def split_text(self, text: str) -> list[str]:
        """Split one text, of the format that `name` determines."""
        return [document.page_content for document in self.create_documents([text])]

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """Split texts, each with its metadata."""
        above: list[dict[Any, Any]] = [{} for _ in texts] if metadatas is None else metadatas
        if len(above) != len(texts):
            raise ValueError(f"got {len(texts)} texts and {len(above)} metadatas; expected one for each text")
        return self._split([(text, metadata, None) for text, metadata in zip(texts, above, strict=True)])

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents. A document without a source is named by its `id`."""
        return self._split([(one.page_content, one.metadata, one.id) for one in documents])

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Split documents."""
        return self.split_documents(documents)

    def _split(self, documents: Sequence[tuple[str, dict[Any, Any], str | None]]) -> list[Document]:
        given = [self._cutter.document(text, metadata, SOURCES, own_id) for text, metadata, own_id in documents]
        return [
            document_of(record, self._cutter.page, copy.deepcopy(metadata))
            for records, (_, metadata, _) in zip(self._cutter.cut(given), documents, strict=True)
            for record in records
        ]


def key_encoder(document: Document) -> str:
    """The key of a chunk for `langchain_core.indexing.index`: its `chunk_id`, so that unchanged chunks keep their keys.

        index(chunks, record_manager, store, cleanup="full", source_id_key="source", key_encoder=key_encoder)

    A chunk that only moved is not written again, so its line numbers in the store become stale. Use
    `chunkwright.sync(...).to(store)` to update them without embedding again.

    Raises `ValueError` for a document that `ChunkwrightSplitter` did not create.
    """
    key = document.metadata.get("chunk_id")
    if not isinstance(key, str):
        raise ValueError("the document has no `chunk_id` in its metadata; split it with `ChunkwrightSplitter`")
    return key


class ChunkwrightRetriever(BaseRetriever):
    """Retrieves from a `chunkwright.Index`.

        retriever = ChunkwrightRetriever(index, k=5)
        retriever.invoke("how are hives fed?")

    Keywords are search options, also those of `invoke`. Documents are those of `ChunkwrightSplitter`, with `score` and,
    if known, `relevance` (0 to 1) in their metadata.
    """

    index: Index
    options: dict[str, Any]

    def __init__(self, index: Index, *, tags: list[str] | None = None, **options: Unpack[Options]) -> None:
        super().__init__(index=index, options=options, tags=tags)  # type: ignore[call-arg]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None, **options: Any
    ) -> list[Document]:
        return [found(hit) for hit in self.index.search(query, **{**self.options, **options, "text": True})]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None, **options: Any
    ) -> list[Document]:
        return [found(hit) for hit in await self.index.asearch(query, **{**self.options, **options, "text": True})]


def found(hit: Hit) -> Document:
    """The document of a hit."""
    document = document_of(hit)
    document.metadata.update((key, hit[key]) for key in ("score", "relevance") if key in hit)
    return document
