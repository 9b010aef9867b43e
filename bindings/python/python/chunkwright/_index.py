"""A collection that is indexed and searched."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _chunkwright, _errors
from ._answer import Answer, Answers
from ._progress import Bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Options, Path


def paths_of(source: Path | Sequence[Path]) -> list[str]:
    """One path or several, as text."""
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    return [os.fspath(path) for path in paths]


class Hit(Answer):
    """A chunk that was found: the fields of its record, `rank`, `score`, and where they are known `relevance` and the scores
    of the stages."""

    def __repr__(self) -> str:
        return f"Hit({self['rank']}, {self['doc_id']!r}, lines {self['start_line']}-{self['end_line']}, score {self['score']:.3f})"


class Index:
    """A collection of a store.

        index = cw.Index("docs", embedder="e5")
        index.search("how are hives fed?", k=5)

    With `source`, what changed there is indexed first; what is done when Ctrl-C comes is kept. `store` is a folder, or the
    address of a server; by default the store of the user. Other keywords are keys of the settings. With `read_only` nothing
    is written.

    A store has one writer at a time; an index that writes and is open lets others write through it in turn. An index can be
    used by several threads. After `fork`, a child has to open it again.
    """

    def __init__(
        self,
        source: Path | Sequence[Path] | None = None,
        *,
        read_only: bool = False,
        progress: bool = True,
        **keys: Unpack[Keys],
    ) -> None:
        self._index = _chunkwright.Index(read_only=read_only, **keys)
        self._progress = progress
        if source is not None:
            self.index(source)

    @property
    def collection(self) -> str:
        """The name of the collection."""
        return self._index.collection

    @property
    def store(self) -> str:
        """The folder or address of the store."""
        return self._index.store

    def _ask(self, verb: str, request: Any = None) -> Any:
        return self._index.ask(verb, {} if request is None else request)

    def index(self, source: Path | Sequence[Path], **request: Any) -> Answer:
        """Index files and folders: only what changed since the last run is cut and embedded.

        Keywords are members of the engine's request: `dry_run`, `prune`, `meta`, `summaries`, ...
        """
        request["paths"] = paths_of(source)
        with Bar("indexing", self._progress) as bar:
            return Answer(self._index.ask("index", request, bar.run))

    def put(self, documents: Iterable[dict[str, Any]] | dict[str, str], **settings: Any) -> Answer:
        """Put documents whose content you have: a dictionary from ids to texts, or dictionaries with `doc_id`, `text`, and
        where you have them `hint` and `meta`."""
        if isinstance(documents, dict):
            documents = [{"doc_id": doc_id, "text": text} for doc_id, text in documents.items()]
        return Answer(self._ask("put", {"documents": list(documents), "settings": settings}))

    def delete(
        self, pattern: str | None = None, *, folder: Path | None = None, everything: bool = False, dry_run: bool = False
    ) -> Answers:
        """Remove the documents whose ids match a pattern, those of a folder that was indexed, or everything."""
        what: Any = "all" if everything else {"folder": os.fspath(folder)} if folder else {"source": pattern}
        return Answers(self._ask("delete", {"what": what, "dry_run": dry_run}))

    def rename(self, name: str) -> Answer:
        """Give the collection another name, by which this index goes on; nothing is read or embedded."""
        return Answer(self._ask("rename", {"name": name}))

    def search(self, query: str, **options: Unpack[Options]) -> list[Hit]:
        """Search: the best chunks, best first. Keywords are options of searches, and `k` is short for `top_k`."""
        return [Hit(hit) for hit in self._index.find(query, **options).get("hits", [])]

    async def asearch(self, query: str, **options: Unpack[Options]) -> list[Hit]:
        """As `search`, without blocking the event loop."""
        return await asyncio.to_thread(self.search, query, **options)

    async def aindex(self, source: Path | Sequence[Path], **request: Any) -> Answer:
        """As `index`, without blocking the event loop."""
        return await asyncio.to_thread(self.index, source, **request)

    async def aput(self, documents: Iterable[dict[str, Any]] | dict[str, str], **settings: Any) -> Answer:
        """As `put`, without blocking the event loop."""
        return await asyncio.to_thread(self.put, documents, **settings)

    def answer(self, query: str, **options: Unpack[Options]) -> Answer:
        """As `search`, with everything that the engine answers: passages, notices, timings."""
        return Answer(self._index.find(query, **options))

    def fetch(self, reference: str, **request: Any) -> Answer:
        """Read a document, a chunk by its id, or lines: `guide.md#L10-L80`."""
        return Answer(self._ask("fetch", {"reference": reference, **request}))

    def chunks(self, **request: Any) -> Answer:
        """List stored chunks, a page at a time: `chunks`, and `next` where there are more."""
        return Answer(self._ask("chunks", request))

    def documents(self) -> Answers:
        """List the documents."""
        return Answers(self._ask("documents"))

    def outline(self, doc_id: str) -> Answers:
        """List the sections of a stored document."""
        return Answers(self._index.ask("outline", doc_id))

    def disable(self, *chunks: str) -> Answers:
        """Leave chunks out of searches until they are enabled again; it outlasts edits of their documents."""
        return self.amend(*chunks, enabled=False)

    def enable(self, *chunks: str) -> Answers:
        """Take chunks into searches again."""
        return self.amend(*chunks, enabled=True)

    def amend(self, *chunks: str, **change: Any) -> Answers:
        """Change chunks by hand: `text`, `keywords`, `pins`, `enabled`, `reset`, `accept`; `expected` are the versions seen."""
        return Answers(self._ask("amend", {"chunks": list(chunks), **change}))

    def overlays(self, **request: Any) -> Answer:
        """List changes by hand."""
        return Answer(self._ask("overlays", request))

    def versions(self) -> Answer:
        """List the generations of the collection."""
        return Answer(self._ask("versions"))

    def prune(self, **request: Any) -> Answers:
        """Remove generations that are not needed any more."""
        return Answers(self._ask("prune", request))

    def status(self) -> Answer:
        """What the collection holds, and how it was made."""
        return Answer(self._ask("status"))

    def statistics(self, **request: Any) -> Answer:
        """Measure the stored chunks."""
        return Answer(self._ask("statistics", request))

    def check(self) -> Answer:
        """Compare all that is stored with itself and its sources."""
        return Answer(self._ask("check"))

    def watch(self, source: Path | Sequence[Path], on_event: Callable[[Answer], object] | None = None, **request: Any) -> None:
        """Index now and after every change, until Ctrl-C, or until `on_event` raises `StopIteration`."""
        request["paths"] = paths_of(source)

        def told(event: dict[str, Any]) -> None:
            if on_event is not None:
                on_event(Answer(event))

        self._index.follow(request, told)

    def serve(self, listen: str = "127.0.0.1:0", *flags: str) -> Server:
        """Serve the store: HTTP, MCP and the page for a browser. The server is a process of its own, and ends with the
        context or by `close`."""
        return Server([*flags, "--listen", listen, "--store", self.store, "--collection", self.collection])

    def __repr__(self) -> str:
        return f"Index({self.collection!r}, store={self.store!r})"


class Server:
    """A running server; `url` is its address."""

    def __init__(self, flags: list[str]) -> None:
        command = [sys.executable, "-m", "chunkwright", "serve", *flags]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self._process.stderr or []:
            if found := re.search(r"listening on (https?://\S+)", line):
                self.url = found[1].rstrip("/")
                threading.Thread(target=self._pass_on, daemon=True).start()
                return
            said.append(line)
        self.close()
        raise _errors.ServiceError(f"the server did not start: {''.join(said).strip()}")

    def _pass_on(self) -> None:
        for line in self._process.stderr or []:
            sys.stderr.write(line)

    def close(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Server({self.url!r})"
