"""HTML for notebooks: chunks with their sizes and reasons, and tables of answers.

Every value is escaped, and the size of the HTML is bounded whatever is shown. There is no script and no address in it.
Colours are tints of the notebook's own, so that they suit light and dark themes.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any

from . import _chunkwright

MAX_CHUNKS = 100
"""Most chunks whose texts are shown."""
MAX_TEXT = 4_000
"""Most characters of a chunk's text that are shown, and most of what it borrows."""
MAX_ROWS = 100
"""Most rows of a table."""
MAX_COLUMNS = 40
"""Most columns of a table."""
MAX_CELL = 160
"""Most characters of a cell, and of each name and path beside a chunk."""
BARS = 24
"""Most bars of a histogram."""

_TINTS = ("66,133,244", "52,168,83", "251,140,0", "171,71,188")
_SMALL = "font-size:.85em;opacity:.75"
_TEXT = "margin:0;padding:0;background:none;color:inherit;font-size:.9em;white-space:pre-wrap;overflow-wrap:anywhere"


def chunks(chunks: Sequence[_chunkwright.Chunk]) -> str:
    """Chunks in order, each with where it stands, its size, and why it begins there; above them their sizes."""
    records = [chunk.dict() for chunk in islice(chunks, MAX_CHUNKS)]
    sizes = [chunk.token_count for chunk in chunks]
    largest = max(sizes, default=0)
    body = [_chunk(number, record, largest) for number, record in enumerate(records)]
    return _box(_heading(chunks, sizes), _histogram(sizes), *body, _more(len(sizes) - len(records), "chunk"))


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Dictionaries as a table: a row each, a column for each name. Nested values are shortened."""
    shown, left = _first(rows, MAX_ROWS)
    names = list(dict.fromkeys(name for row in shown for name in row))
    columns = names[:MAX_COLUMNS]
    numeric = {name for name in columns if all(_is_number(row.get(name)) for row in shown if row.get(name) is not None)}
    head = "".join(_cell("th", name, name in numeric) for name in columns)
    body = "".join(
        f"<tr>{''.join(_cell('td', _short(row.get(name)), name in numeric) for name in columns)}</tr>" for row in shown
    )
    grid = f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    scrolled = f'<div style="overflow-x:auto">{grid}</div>' if shown else _note("no rows")
    return _box(scrolled, _more(left, "row"), _more(len(names) - len(columns), "column"))


def answer(members: Mapping[str, Any]) -> str:
    """A dictionary: its plain members as one table, and each list of dictionaries as a table of its own."""
    lists = {name: value for name, value in members.items() if _is_rows(value)}
    shown = dict(islice(lists.items(), MAX_COLUMNS))
    plain = [{"member": name, "value": value} for name, value in members.items() if name not in shown]
    parts = [table(plain)] if plain else []
    for name, rows in shown.items():
        parts.append(f'<div style="margin-top:.8em"><b>{escape(_clip(name, MAX_CELL))}</b> ({len(rows):,})</div>')
        parts.append(table(rows))
    return _box(*parts)


def _box(*parts: str) -> str:
    return f'<div style="line-height:1.4">{"".join(parts)}</div>'


def _heading(chunks: Sequence[_chunkwright.Chunk], sizes: list[int]) -> str:
    if not sizes:
        return _note("no chunks")
    ordered = sorted(sizes)
    documents = len({chunk.doc_id for chunk in chunks})
    oversize = sum(1 for chunk in chunks if chunk.oversize)
    text = (
        f"{_count(len(sizes), 'chunk')} of {_count(documents, 'document')}, {_count(sum(sizes), 'token')}"
        f" ({_clip(chunks[0].tokenizer, MAX_CELL)}): {ordered[0]:,} to {ordered[-1]:,} each, median"
        f" {ordered[len(ordered) // 2]:,}"
    )
    if oversize:
        text += f"; {oversize:,} over the limit"
    return f"<div><b>{escape(text)}</b></div>"


def _histogram(sizes: list[int]) -> str:
    """The number of chunks by their size in tokens, as bars; the range of each bar is its title."""
    if len(sizes) < 2:
        return ""
    low, high = min(sizes), max(sizes)
    width = max(1, -(-(high - low + 1) // BARS))
    counts = Counter((size - low) // width for size in sizes)
    most = max(counts.values())
    bars: list[str] = []
    for number in range((high - low) // width + 1):
        first = low + number * width
        last = min(first + width - 1, high)
        height = 48 * counts[number] / most
        bars.append(
            f'<span title="{first:,} to {last:,} tokens: {_count(counts[number], "chunk")}"'
            f' style="display:inline-block;width:14px;margin-right:1px;height:{height:.1f}px;'
            f"min-height:{1 if counts[number] else 0}px;"
            f'background:rgba({_TINTS[0]},.6)"></span>'
        )
    axis = f'<div style="{_SMALL}">{low:,} to {high:,} tokens</div>'
    return (
        f'<div role="img" aria-label="sizes of chunks in tokens" style="display:flex;align-items:flex-end;height:48px;'
        f'margin-top:.4em">{"".join(bars)}</div>{axis}'
    )


def _chunk(number: int, record: Mapping[str, Any], largest: int) -> str:
    tint = _TINTS[number % len(_TINTS)]
    size = record["token_count"]
    share = 100 * size / largest if largest else 0
    bar = (
        f'<span title="{share:.0f} % of the largest chunk" style="display:inline-block;width:80px;height:.6em;'
        f'background:rgba(128,128,128,.25)"><span style="display:block;height:100%;width:{share:.0f}%;'
        f'background:rgba({tint},.9)"></span></span>'
    )
    cut = record["cut"]
    begins = f"<b>{escape(_clip(cut or 'unknown', MAX_CELL))}</b> {escape(_reasons().get(cut, ''))}"
    about = [
        f"{record['chunk_index'] + 1} of {record['total_chunks']}",
        escape(_clip(record["doc_id"], MAX_CELL)),
        f"lines {record['start_line']}-{record['end_line']}",
        f"{bar} {size:,} tokens",
        escape(_clip(record["header_path"], MAX_CELL)),
        begins,
    ]
    if record.get("artifact"):
        about[0] = escape(_clip(record["artifact"], MAX_CELL))
    if record["oversize"]:
        about.append("over the limit")
    text, content = record["text"], record["content"]
    # The text of a summary was written about its content, and does not end with it.
    own = len(text) - len(content) if text.endswith(content) else 0
    borrowed = (
        f'<span title="borrowed context" style="opacity:.5">{escape(_clip(text[:own], MAX_TEXT))}</span>' if own else ""
    )
    return (
        f'<div style="margin-top:.5em;padding:.3em .6em;border-left:4px solid rgba({tint},.9);'
        f'background:rgba({tint},.12)">'
        f'<div style="{_SMALL}">{" · ".join(part for part in about if part)}</div>'
        f'<pre style="{_TEXT}">{borrowed}{escape(_clip(text[own:], MAX_TEXT))}</pre></div>'
    )


@functools.cache
def _reasons() -> Mapping[str, str]:
    """What each value of `cut` means, in a sentence of the engine."""
    cuts = _chunkwright.schema("Record")["$defs"]["Cut"]["oneOf"]
    return {cut["const"]: cut["description"] for cut in cuts}


def _cell(tag: str, text: str, is_number: bool) -> str:
    align = "right" if is_number else "left"
    style = f"text-align:{align};vertical-align:top;padding:.1em .6em"
    return f'<{tag} style="{style}">{escape(_clip(text, MAX_CELL))}</{tag}>'


def _short(value: Any) -> str:
    """A value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        first, left = _first(value.items(), 8)
        members = [f"{name}: {_inner(member)}" for name, member in first]
        return ", ".join([*members, *([f"{left:,} more"] if left else [])])
    if isinstance(value, (list, tuple)):
        if _is_rows(value):
            return _count(len(value), "item")
        first, left = _first(value, 8)
        return ", ".join([*(_inner(item) for item in first), *([f"{left:,} more"] if left else [])])
    return str(value)


def _inner(value: Any) -> str:
    """A value within the text of a cell."""
    if isinstance(value, (Mapping, list, tuple)):
        return (
            _clip(json.dumps(value, ensure_ascii=False, default=str), 40)
            if len(value) <= 8
            else _count(len(value), "item")
        )
    return _clip(_short(value), 60)


def _first(items: Iterable[Any], most: int) -> tuple[list[Any], int]:
    """The first items, and how many there are beside them."""
    iterator = iter(items)
    first = list(islice(iterator, most))
    return first, sum(1 for _ in iterator)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_rows(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in islice(value, MAX_ROWS))
    )


def _clip(text: str, most: int) -> str:
    """The beginning of a text that is too long, and how much more there is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _note(text: str) -> str:
    return f'<div style="{_SMALL}">{escape(text)}</div>'


def _more(number: int, noun: str) -> str:
    return _note(f"and {_count(number, noun)} more") if number > 0 else ""
