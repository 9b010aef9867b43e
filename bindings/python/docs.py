"""Writes the tables of `docs/python.md` from the engine's tables: fields of a chunk, and keywords.

The package has to be importable. With `--check` nothing is written, and a stale page is a failure.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import chunkwright as cw

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def fields() -> str:
    """Every attribute of a chunk."""
    record = cw.schema("Record")
    names = [name for name in dir(cw.chunk_text("a", name="a.md")[0]) if name in record["properties"]]
    names.sort(key=list(record["properties"]).index)
    rows = (
        (f"`{name}`", kind(record["properties"][name], record), sentence(record["properties"][name])) for name in names
    )
    return rows_of(("Field", "Type", "Meaning"), rows)


def keywords() -> str:
    """Every key that a call takes, with its default, but for other systems' names of keys."""
    properties = {name: key for name, key in cw.keys()["properties"].items() if "x-group" in key}
    rows = (
        (f"`{name}`", kind(key, {}), f"`{json.dumps(key['default'])}`" if "default" in key else "", sentence(key))
        for name, key in properties.items()
    )
    return rows_of(("Keyword", "Type", "Default", "Meaning"), rows)


TABLES: dict[str, Callable[[], str]] = {"fields": fields, "keywords": keywords}

_KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def kind(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """The name of the type of Python that a schema describes."""
    if reference := schema.get("$ref"):
        return kind(root["$defs"][reference.rsplit("/", 1)[1]], root)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            kinds = [kind(one, root) for one in schema[several]]
            return " or ".join(dict.fromkeys(one for one in kinds if one))
    if "const" in schema or "enum" in schema:
        return "str"
    kinds = schema.get("type", "")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_KINDS.get(one, "") for one in kinds if one != "null")


def sentence(schema: dict[str, Any]) -> str:
    """The help of a member on one line, with its choices and without names of Rust."""
    paragraphs = [" ".join(text.split()).removesuffix(".") for text in schema.get("description", "").split("\n\n")]
    choices = ", ".join(f"`{value}`" for value in constants(schema))
    if choices:
        paragraphs[0] += f": {choices}"
    text = ". ".join(filter(None, paragraphs))
    text = re.sub(r" \((see )?\[`[^`]*`\]\)", "", text)
    text = re.sub(r", \[`MAX_[^.]*", "", text)
    text = re.sub(r"[^.]*\[`\w+::\w+`\][^.]*\.?", "", text)
    return re.sub(r"\[(`[^`]*`)\]", r"\1", text).strip()


def constants(schema: dict[str, Any]) -> list[str]:
    """The names that a value may be."""
    several = schema.get("oneOf") or schema.get("anyOf") or []
    return [one["const"] for one in several if "const" in one] or (
        constants(schema["items"]) if "items" in schema else []
    )


def rows_of(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    names = list(names)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def written(page: str) -> str:
    """The page with its tables as they are now."""

    def made(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n\n{TABLES[match[1]]()}\n\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->.*?<!-- end -->", made, page, flags=re.DOTALL)


def main() -> int:
    before = PAGE.read_text(encoding="utf-8")
    now = written(before)
    if "--check" in sys.argv[1:]:
        if before != now:
            print(f"`{PAGE.name}` is stale; run `python {Path(__file__).name}`", file=sys.stderr)
        return int(before != now)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
