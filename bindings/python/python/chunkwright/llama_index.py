"""LlamaIndex: a node parser and a retriever.

from chunkwright.llama_index import ChunkwrightNodeParser

nodes = ChunkwrightNodeParser(max_size=512).get_nodes_from_documents(documents)
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import default_id_func
    from llama_index.core.schema import (
        BaseNode,
        Document,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        ObjectType,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ImportError as error:
    raise ImportError("this needs LlamaIndex; install it with `pip install llama-index-core`") from error

from . import _adapters
from ._index import Hit, Index

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Options

SOURCES = ("file_path", "source", "url")


def node_of(record: Mapping[str, Any], page: _adapters.Page = "text", above: BaseNode | None = None) -> TextNode:
    """The node of a chunk: its id is `chunk_id`. What is embedded is its text alone, without metadata."""
    given = {} if above is None else copy.deepcopy(above.metadata)
    metadata = _adapters.flat(record, start="start_char_idx", end="end_char_idx", above=given)
    if above is None:
        metadata.setdefault("file_path", record["doc_id"])
    ours = [key for key in metadata if key not in given and key != "file_path"]
    node = TextNode(
        id_=record["chunk_id"],
        text=record[page],
        metadata=metadata,
        start_char_idx=record["start_char"],
        end_char_idx=record["end_char"],
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=list(dict.fromkeys([*(above.excluded_llm_metadata_keys if above else []), *ours])),
    )
    node.relationships[NodeRelationship.SOURCE] = (
        RelatedNodeInfo(node_id=record["doc_id"], node_type=ObjectType.DOCUMENT)
        if above is None
        else above.source_node or above.as_related_node_info()
    )
    for relationship, other in (
        (NodeRelationship.PREVIOUS, record.get("previous")),
        (NodeRelationship.NEXT, record.get("next")),
        (NodeRelationship.PARENT, record["parent"] if record["parent"] != record["doc_id"] else None),
    ):
        if other is not None:
            node.relationships[relationship] = RelatedNodeInfo(node_id=other, node_type=ObjectType.TEXT)
    return node


class ChunkwrightNodeParser(NodeParser):
    """Parses documents into nodes; `metadata["file_path"]`, `["source"]` or `["url"]` determines the format of each.

        parser = ChunkwrightNodeParser(max_size=512)
        nodes = parser.get_nodes_from_documents(documents)

    Keywords are keys of the settings. `name` is a file name that determines the format of documents whose source does
    not; the default is Markdown. With `root`, files below that folder have the same ids as in
    `chunkwright.chunk(root)`.

    A node's id is `chunk_id`; `start_char_idx` and `end_char_idx` are the offsets of its content in the document.
    Relationships are SOURCE (the document), PREVIOUS, NEXT, and PARENT if the section holds more than the chunk; its id
    is the reference `DOC_ID#L10-L80`. With `include_parents`, these sections are included as nodes with CHILD
    relationships, before the chunks of their document, as `AutoMergingRetriever` needs them. The text is the chunk's
    `text`, which includes the headings above it, or with `text="content"` exactly the source. Metadata is not embedded.

    Without a source, ids depend on the id of the document: set a stable one.

    Raises `SettingsError` for an unknown key or an invalid value.
    """

    name: str | None = Field(
        default=None, description="File name that determines the format of documents whose source does not."
    )
    root: str | None = Field(default=None, description="Folder that ids are relative to.")
    text: _adapters.Page = Field(default="text", description="Text of nodes: `text` or `content`.")
    include_parents: bool = Field(default=False, description="Include a node for each section that holds chunks.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Keys of the settings.")
    _cutter: _adapters.Cutter = PrivateAttr()

    def __init__(
        self,
        *,
        name: str | None = None,
        root: str | os.PathLike[str] | None = None,
        text: _adapters.Page = "text",
        include_parents: bool = False,
        include_metadata: bool = True,
        include_prev_next_rel: bool = True,
        callback_manager: CallbackManager | None = None,
        id_func: Callable[..., Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        class_name: str | None = None,
        **keys: Unpack[Keys],
    ) -> None:
        cutter = _adapters.Cutter(name, root, text, {**(settings or {}), **keys})
        fields: dict[str, Any] = {
            "name": name,
            "root": cutter.root,
            "text": text,
            "include_parents": include_parents,
            "include_metadata": include_metadata,
            "include_prev_next_rel": include_prev_next_rel,
            "callback_manager": callback_manager or CallbackManager([]),
            # Not used: node ids are chunk ids. A serialized parser has a dictionary here.
            "id_func": id_func if callable(id_func) else default_id_func,
            "settings": cutter.settings,
        }
        super().__init__(**fields)
        self._cutter = cutter

    @classmethod
    def class_name(cls) -> str:
        """The name of the class in serialized pipelines."""
        return "ChunkwrightNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        given = [
            self._cutter.document(text, node.metadata, SOURCES, node.node_id)
            for text, node in zip(texts, nodes, strict=True)
        ]
        parsed: list[BaseNode] = []
        for records, text, node in zip(self._cutter.cut(given), texts, nodes, strict=True):
            children = [self._node(record, node) for record in records]
            if self.include_parents:
                parsed.extend(_parents(children, text))
            parsed.extend(children)
        return parsed

    def _node(self, record: Mapping[str, Any], above: BaseNode) -> TextNode:
        if not self.include_metadata:
            above = above.model_copy(update={"metadata": {}})
        node = node_of(record, self.text, above)
        if not self.include_prev_next_rel:
            node.relationships.pop(NodeRelationship.PREVIOUS, None)
            node.relationships.pop(NodeRelationship.NEXT, None)
        return node

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]) -> list[BaseNode]:
        # Offsets and relationships are set; the base class would search for them by text.
        return nodes


def _parents(children: Sequence[TextNode], text: str) -> list[TextNode]:
    """The nodes of the sections that hold `children`, of the document `text`."""
    ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", text)]
    starts = [0, *ends]
    parents: dict[str, TextNode] = {}
    held: dict[str, list[RelatedNodeInfo]] = {}
    for child in children:
        info = child.parent_node
        if info is None:
            continue
        lines = re.search(r"#L(\d+)(?:-L(\d+))?$", info.node_id)
        if lines is None:
            continue
        first, last = int(lines[1]), int(lines[2] or lines[1])
        if info.node_id not in parents:
            start, end = starts[first - 1], starts[last] if last < len(starts) else len(text)
            parent = parents[info.node_id] = TextNode(
                id_=info.node_id,
                text=text[start:end],
                start_char_idx=start,
                end_char_idx=end,
                metadata={"doc_id": child.metadata["doc_id"], "start_line": first, "end_line": last},
                excluded_embed_metadata_keys=["doc_id", "start_line", "end_line"],
                excluded_llm_metadata_keys=["doc_id", "start_line", "end_line"],
            )
            parent.relationships[NodeRelationship.SOURCE] = child.relationships[NodeRelationship.SOURCE]
        held.setdefault(info.node_id, []).append(RelatedNodeInfo(node_id=child.node_id, node_type=ObjectType.TEXT))
    for node_id, parent in parents.items():
        parent.relationships[NodeRelationship.CHILD] = held[node_id]
    return list(parents.values())


class ChunkwrightRetriever(BaseRetriever):
    """Retrieves from a `chunkwright.Index`.

        retriever = ChunkwrightRetriever(index, k=5)
        retriever.retrieve("how are hives fed?")

    Keywords are search options. Nodes are those of `ChunkwrightNodeParser`, with scores.
    """

    def __init__(
        self, index: Index, *, callback_manager: CallbackManager | None = None, **options: Unpack[Options]
    ) -> None:
        self._index = index
        self._options: dict[str, Any] = {**options}
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [found(hit) for hit in self._index.search(query_bundle.query_str, **{**self._options, "text": True})]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            found(hit) for hit in await self._index.asearch(query_bundle.query_str, **{**self._options, "text": True})
        ]


def found(hit: Hit) -> NodeWithScore:
    """The node of a hit, with its score."""
    return NodeWithScore(node=node_of(hit), score=hit.get("score"))
