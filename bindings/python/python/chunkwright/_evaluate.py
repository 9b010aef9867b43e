"""Measures ways of cutting, those of other libraries too, on questions whose answers are known."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import _chunkwright, _errors
from ._answer import Answer, Answers
from ._progress import Bar
from ._sync import Embed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._chunkwright import Keys, Source

Questions: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, Any]]"
"""A file of JSON Lines, or what its lines hold: `question`, `doc_id`, and the place of the answer, as `excerpt`."""

Way: TypeAlias = "str | Mapping[str, Any] | Callable[[str], Iterable[Any]] | object"
"""A preset's name, keys of the settings, a function from a text to chunks, or a splitter of another library."""

MAX_WARNINGS = 10
"""Most lines that are warned of one by one."""


class Evaluation(Answer):
    """What was measured: `run`, `retrieval`, `stability` and, where asked for, `questions`, as the engine answers it.

    Each line has the name of its `way` too.
    """

    @property
    def measures(self) -> Answers:
        """A row for each way, mode and measure.

        `value` is a share from 0 to 1, with its 95 % interval from `low` to `high`; `difference` is that to the first
        preset, with `difference_low` and `difference_high`. `beyond_noise` says whether this interval excludes 0.
        """
        rows: list[dict[str, Any]] = []
        for line in self["retrieval"]:
            for measure, value in line["measures"].items():
                row = {"way": line["way"], "mode": line["mode"], "measure": measure, "value": value["mean"]}
                row |= {"low": value["low"], "high": value["high"]}
                if other := value.get("difference"):
                    row |= {f"difference{end}": other[name] for end, name in _ENDS.items()}
                    row["beyond_noise"] = not other["low"] <= 0 <= other["high"]
                rows.append(row)
        return Answers(rows)

    @property
    def ways(self) -> Answers:
        """A row for each way and mode: number of chunks, their sizes in tokens, measures as shares from 0 to 1."""
        return Answers(
            {"way": line["way"], "mode": line["mode"], **line["sizes"]}
            | {measure: value["mean"] for measure, value in line["measures"].items()}
            for line in self["retrieval"]
        )

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of `ways`; `measures.to_pandas()` has the intervals and differences."""
        return self.ways.to_pandas()

    def _repr_html_(self) -> str:
        return self.ways._repr_html_()

    def __repr__(self) -> str:
        run = self["run"]
        names = ", ".join(dict.fromkeys(line["way"] for line in self["retrieval"]))
        return f"<evaluation of {names} on {run['questions']} questions and {run['documents']} documents>"


_ENDS = {"": "mean", "_low": "low", "_high": "high"}


class Tuning(Answer):
    """What was measured and what is proposed: `candidates`, best first, and `proposal` with the lines for
    `chunkwright.toml`."""

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, a row a candidate."""
        rows = [dict(candidate) for candidate in self["candidates"]]
        for row in rows:
            row |= {f"sizes_{name}": value for name, value in row.pop("sizes").items()}
            for measure in ("R@1000", "difference"):
                interval = row.pop(measure)
                row |= {f"{measure}{end}": interval[name] for end, name in _ENDS.items()}
        return Answers(rows).to_pandas()


def evaluate(
    questions: Questions | None,
    source: Source,
    ways: Mapping[str, Way],
    *,
    embed: Embed | Any = None,
    modes: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    ks: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
    fusion: Any = None,
    names: Literal["first", "off"] | None = None,
    edits: Any = None,
    per_question: bool | None = None,
    budget_tokenizer: str | None = None,
    seed: int | None = None,
    progress: bool = True,
    **keys: Unpack[Keys],
) -> Evaluation:
    """Measure ways of cutting `source` on questions: whether a search over the chunks of each finds the answers.

    `ways` names what is compared: the name of a preset; a dictionary of keys; a function from a text to a list of
    chunks; or an object with `split_text`, `chunks` or `chunk`, such as a splitter of LangChain, LlamaIndex or chonkie.
    Chunks are texts, or objects or dictionaries with a text and, where they know it, their place in characters.
    Differences are to the first preset among the ways; without one, the preset of the settings is measured as well.

        cw.evaluate("questions.jsonl", "docs", {"mine": my_splitter, "auto": "auto"}, embed=embed).to_pandas()

    `embed` makes vectors of a list of texts; without it the `embedder` of the settings does, or the search is by words
    alone. `modes` are `lexical`, `dense`, `sparse` or `hybrid`; `names` is whether what a name means comes first; `budgets` are the numbers of tokens of `R@N`, `ks` the
    numbers of chunks of the other measures. `edits` is `{"drawn": 20}` or `{"file": path}`, and measures how many
    chunks of the presets an edit changes. Other keywords are keys of the settings.

    Raises `RequestError` for questions that cannot be read, and if there is no document. Lines that cannot be used are
    warned of.
    """
    request: dict[str, Any] = _given(
        modes=modes,
        budgets=budgets,
        ks=ks,
        sizes=sizes,
        fusion=fusion,
        names=names,
        edits=edits,
        per_question=per_question,
        budget_tokenizer=budget_tokenizer,
        seed=seed,
    )
    if isinstance(questions, (str, os.PathLike)):
        request["questions"] = os.fspath(questions)
    elif questions is not None:
        request["inline"] = [dict(question) for question in questions]
    presets = {name: way.strip() for name, way in ways.items() if isinstance(way, str)}
    request["presets"] = list(dict.fromkeys(presets.values()))
    with tempfile.TemporaryDirectory(prefix="chunkwright-") as folder, Bar("evaluating", progress, unit="way") as bar:
        files: dict[str, str] = {}
        documents: dict[str, str] | None = None
        for number, (name, way) in enumerate(ways.items()):
            if isinstance(way, str):
                continue
            if documents is None:
                documents = _documents(source, request.get("questions"), keys)
            if isinstance(way, Mapping):
                rows = _own_rows(_chunkwright.chunk(source, **{**keys, **way}), documents)
            else:
                rows = _foreign_rows(name, way, documents)
            path = Path(folder, str(number))
            _write(path, rows)
            if not path.stat().st_size:
                raise refused(f"the way `{name}` made no chunk of the documents")
            files[name] = str(path)
        request["chunks"] = list(files.values())
        with _steps(bar, {path: name for name, path in files.items()}) as steps:
            answer = _chunkwright.evaluate(source, request, steps, **_with(keys, embed))
    if answer is None:
        raise refused(_why(steps))
    steps.warn()
    return Evaluation(_named(answer, list(ways), presets, files))


def tune(
    source: Source,
    *,
    questions: Questions | None = None,
    embed: Embed | Any = None,
    from_: Sequence[str] | None = None,
    presets: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    mode: str | None = None,
    fusion: Any = None,
    max_questions: int | None = None,
    max_bytes: int | None = None,
    budget_tokenizer: str | None = None,
    seed: int | None = None,
    progress: bool = True,
    **keys: Unpack[Keys],
) -> Tuning:
    """Measure many ways of cutting `source`, and propose one that is better than `auto` beyond noise.

    Without `questions` some are made of the documents; `from_` says of what: `links`, `sentences`, `symbols`, `titles`.
    `presets` and `sizes` are what is tried, `max_bytes` bounds what is read of a large corpus. Other keywords are keys
    of the settings.

        print(cw.tune("docs", presets=["auto", "recursive"]).proposal.toml)
    """
    request: dict[str, Any] = _given(
        presets=presets,
        sizes=sizes,
        mode=mode,
        fusion=fusion,
        max_questions=max_questions,
        max_bytes=max_bytes,
        budget_tokenizer=budget_tokenizer,
        seed=seed,
    )
    request |= _given(**{"from": from_})
    with tempfile.TemporaryDirectory(prefix="chunkwright-") as folder, Bar("tuning", progress, unit="way") as bar:
        names: dict[str, str] = {}
        if isinstance(questions, (str, os.PathLike)):
            request["questions"] = os.fspath(questions)
        elif questions is not None:
            path = Path(folder, "questions.jsonl")
            _write(path, (dict(question) for question in questions))
            request["questions"], names[str(path)] = str(path), "questions"
        with _steps(bar, names) as steps:
            answer = _chunkwright.tune(source, request, steps, **_with(keys, embed))
    if answer is None:
        raise refused(_why(steps))
    steps.warn()
    return Tuning(answer)


def refused(sentence: str) -> Exception:
    """The exception of a request that cannot be carried out."""
    error = _errors.RequestError(sentence)
    error.code = "invalid_request"
    error.errors = []
    return error


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _with(keys: Mapping[str, Any], embed: Any) -> dict[str, Any]:
    return {**keys, "embedder": embed} if embed is not None else dict(keys)


class _Steps:
    """What an evaluation tells on the way: progress to a bar, and sentences that are kept."""

    def __init__(self, bar: Bar, names: Mapping[str, str]) -> None:
        self._bar = bar
        self._names = names
        self.sentences: list[str] = []

    def __call__(self, event: dict[str, Any]) -> None:
        sentence = event.get("message")
        if sentence is None:
            self._bar.step(event)
            return
        self.sentences.append(self.named(sentence))

    def warn(self) -> None:
        """Warns the caller of `evaluate` or `tune` of what was told."""
        for sentence in self.sentences[:MAX_WARNINGS]:
            warnings.warn(sentence, UserWarning, stacklevel=3)
        if (left := len(self.sentences) - MAX_WARNINGS) > 0:
            warnings.warn(f"and {left:,} more", UserWarning, stacklevel=3)

    def named(self, sentence: str) -> str:
        """A sentence with the names that the caller knows, in place of the paths of temporary files."""
        for path, name in self._names.items():
            sentence = sentence.replace(f"`{path}`", f"`{name}`")
        return sentence


@contextmanager
def _steps(bar: Bar, names: Mapping[str, str]) -> Iterator[_Steps]:
    """Collects sentences; an error has the first of them too."""
    steps = _Steps(bar, names)
    try:
        yield steps
    except _errors.ChunkwrightError as error:
        error.args = ("; ".join([steps.named(str(error)), *steps.sentences[:3]]),)
        raise


def _why(steps: _Steps) -> str:
    return steps.sentences[-1] if steps.sentences else "no document was found at the given paths"


def _documents(source: Any, questions: str | None, keys: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the documents by their ids, without the file of questions, which is not measured either."""
    documents = dict(_chunkwright.documents(source, **keys))
    if questions is not None:
        file = Path(questions).resolve()
        for folder in source if isinstance(source, (list, tuple)) else [source]:
            if isinstance(folder, (str, os.PathLike)) and file.is_relative_to(Path(folder).resolve()):
                below = file.relative_to(Path(folder).resolve()).as_posix()
                for doc_id in [doc_id for doc_id in documents if doc_id in (below, file.name)]:
                    del documents[doc_id]
    return documents


def _own_rows(chunks: Iterable[_chunkwright.Chunk], documents: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for chunk in chunks:
        if chunk.doc_id in documents:
            yield _row(chunk.doc_id, chunk.content, chunk.start_char, chunk.end_char) | {"embed_text": chunk.text}


def _foreign_rows(name: str, way: Any, documents: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    split = _splitter(name, way)
    for doc_id, text in documents.items():
        for row in (_placed(name, doc_id, piece) for piece in split(text)):
            # A blank piece is nothing that a search could find.
            if any(isinstance(part := row.get(key), str) and part.strip() for key in ("text", "content")):
                yield row


def _splitter(name: str, way: Any) -> Callable[[str], Iterable[Any]]:
    """The function of a way that is code."""
    for method in ("split_text", "chunks", "chunk"):
        split = getattr(way, method, None)
        if callable(split):
            return split  # type: ignore[no-any-return]
    if callable(way):
        return way  # type: ignore[no-any-return]
    raise TypeError(
        f"the way `{name}` is an object of `{type(way).__qualname__}`; it must be a preset's name, a dictionary of"
        " keys, a function of a text, or an object with `split_text`, `chunks` or `chunk`"
    )


_TEXTS = ("page_content", "content", "text")
_STARTS = ("start_char", "start_index", "start_char_idx")
_ENDINGS = ("end_char", "end_index", "end_char_idx")


def _placed(name: str, doc_id: str, piece: Any) -> dict[str, Any]:
    """A line of a chunk that other code made: a text, or an object or dictionary that has one."""
    if isinstance(piece, str):
        return {"doc_id": doc_id, "text": piece}

    def member(names: Iterable[str], kind: type) -> Any:
        holders = [piece, _member(piece, "metadata"), _member(piece, "meta")]
        values = (_member(holder, name) for holder in holders if holder is not None for name in names)
        return next((value for value in values if isinstance(value, kind)), None)

    text = member(_TEXTS, str)
    if text is None:
        raise TypeError(
            f"the way `{name}` returned an object of `{type(piece).__qualname__}`; a chunk must be text, or have its"
            " text as `text`, `content` or `page_content`"
        )
    return _row(doc_id, text, member(_STARTS, int), member(_ENDINGS, int))


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _row(doc_id: str, content: str, start: int | None, end: int | None) -> dict[str, Any]:
    row: dict[str, Any] = {"doc_id": doc_id, "content": content}
    # Splitters that do not find a text again say -1.
    if start is not None and start >= 0:
        row["start_char"] = start
        if end is not None:
            row["end_char"] = end
    return row


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, default=os.fspath) + "\n")


def _named(
    answer: dict[str, Any], names: Sequence[str], presets: Mapping[str, str], files: Mapping[str, str]
) -> dict[str, Any]:
    """The answer with each line once for each way that it is of, in the order of the ways."""
    by_preset: dict[str, list[str]] = {}
    for name, preset in presets.items():
        by_preset.setdefault(preset, []).append(name)
    by_preset |= {Path(path).name: [name] for name, path in files.items()}

    def lines(member: str) -> list[dict[str, Any]]:
        given = answer.get(member, [])
        # What no way names: the preset of the settings, or one of `all`.
        ways = [by_preset.get(line["preset"]) or [_apart(line["preset"], names)] for line in given]
        named = [{"way": way, **line} for line, ways in zip(given, ways, strict=True) for way in ways]
        foreign = set(files)
        for line in named:
            if line["way"] in foreign:
                line["preset"] = line["way"]
        order = {name: place for place, name in enumerate(names)}
        modes = list(dict.fromkeys(line.get("mode") for line in named))
        return sorted(named, key=lambda line: (modes.index(line.get("mode")), order.get(line["way"], -1)))

    named = answer.copy()
    named |= {member: lines(member) for member in ("retrieval", "stability", "questions") if member in answer}
    return named


def _apart(preset: str, names: Sequence[str]) -> str:
    return f"{preset} (settings)" if preset in names else preset
