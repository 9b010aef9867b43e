"""Writes the type stubs of the native module from the engine's tables: keywords, options of searches, fields of a chunk.

    python stubs.py        # beside the package, which has to be importable
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import chunkwright
from chunkwright import _chunkwright

#: Keys that code of the caller may stand for, with its type.
OWN = {
    "tokenizer": "Counter",
    "embedder": "Embedder",
    "reranker": "Reranker",
    "strategy": "Strategy",
}

HEAD = '''"""Made by `stubs.py` from the tables of the engine; do not edit."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, overload

from typing_extensions import TypedDict, Unpack

__version__: str

class HasEncode(Protocol):
    """A tokenizer, as `tiktoken` and `tokenizers` have them."""

    def encode(self, text: str, /) -> Any: ...

class HasEmbed(Protocol):
    """Embeddings, as LangChain has them."""

    def embed_documents(self, texts: list[str], /) -> list[list[float]]: ...
    def embed_query(self, text: str, /) -> list[float]: ...

Path: TypeAlias = str | PathLike[str]
#: The path of a file or folder; bytes or text with a name; or several.
Source: TypeAlias = Path | bytes | dict[str, Any] | Sequence[Path | bytes | dict[str, Any]]
#: Counts the tokens of a text, or gives a list of them.
Counter: TypeAlias = Callable[[str], Any] | HasEncode
#: Makes a vector of each text.
Embedder: TypeAlias = Callable[[list[str]], Any] | HasEmbed
#: Scores texts for a question, higher for a better answer.
Reranker: TypeAlias = Callable[[str, list[str]], Any]
#: Says where the chunks of a text begin, or their ranges, in characters; the second argument is the limit.
Strategy: TypeAlias = Callable[[str, int], Sequence[int] | Sequence[tuple[int, int]]]
'''


def type_of(schema: dict[str, Any], *, reads: bool = False) -> str:
    """The type of values that a schema takes, or of those that it describes."""
    if "$ref" in schema:
        return "Any"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            constants = [one["const"] for one in schema[several] if "const" in one]
            others = [type_of(one, reads=reads) for one in schema[several] if "const" not in one]
            literal = [f"Literal[{', '.join(json.dumps(value) for value in constants)}]"] if constants else []
            return " | ".join(dict.fromkeys(literal + others)) or "Any"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(dict.fromkeys(type_of({**schema, "type": kind}, reads=reads) for kind in kinds))
    match kinds:
        case "integer":
            return "int"
        case "number":
            return "float"
        case "boolean":
            return "bool"
        case "string":
            return "str"
        case "null":
            return "None"
        case "array":
            item = type_of(schema.get("items", {}), reads=reads)
            return f"list[{item}]" if reads else f"Sequence[{item}] | str"
        case "object":
            return "dict[str, Any]" if reads else "dict[str, Any]"
    return "Any"


def documented(indent: str, schema: dict[str, Any], more: str = "") -> list[str]:
    """The help of a member as a docstring."""
    text = schema.get("description", "").strip()
    if text and more:
        text += f" {more}" if text.endswith((".", ")", "]")) else f". {more}"
    if not text:
        return []
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    paragraphs = [textwrap.wrap(paragraph, 110) for paragraph in text.split("\n\n")]
    lines = [line for at, paragraph in enumerate(paragraphs) for line in ([""] if at else []) + paragraph]
    if len(lines) == 1 and not lines[0].endswith('"'):
        return [f'{indent}"""{lines[0]}"""']
    return [f'{indent}"""{lines[0]}', *(f"{indent}{line}" if line else "" for line in lines[1:]), f'{indent}"""']


def keyword(name: str, schema: dict[str, Any]) -> list[str]:
    """A member of a `TypedDict` of keywords."""
    kind = type_of(schema)
    if name in OWN:
        kind = f"Path | {OWN[name]}"
    default = schema.get("default")
    unit = schema.get("x-unit")
    said = [f"In {unit}." if unit and unit != "size" else "", f"Default: `{json.dumps(default)}`." if "default" in schema else ""]
    return [f"    {name}: {kind} | None", *documented("    ", schema, " ".join(filter(None, said)))]


def typed_dict(name: str, doc: str, members: dict[str, Any], more: list[str]) -> list[str]:
    lines = [f"class {name}(TypedDict, total=False):", f'    """{doc}"""', "", *more]
    for member, schema in members.items():
        lines += keyword(member, schema)
    return [*lines, ""]


def chunk(record: dict[str, Any]) -> list[str]:
    lines = ["class Chunk:", *documented("    ", {"description": _chunkwright.Chunk.__doc__ or ""}), ""]
    names = [name for name in dir(_chunkwright.Chunk.from_dict(sample())) if name not in ("dict", "from_dict")]
    for name in names:
        schema = record["properties"].get(name, {})
        kind = type_of(resolved(record, schema), reads=True)
        absent = "" if name in record.get("required", []) else " | None"
        lines += ["    @property", f"    def {name}(self) -> {kind}{absent}:", *(documented("        ", schema) or ["        ..."])]
    lines += [
        "    @staticmethod",
        "    def from_dict(record: dict[str, Any], /) -> Chunk:",
        '        """The chunk of a record, as `dict` gives it."""',
        "    def dict(self) -> dict[str, Any]:",
        '        """The record: the fields that it has, by their names."""',
        "    def __hash__(self) -> int: ...",
        "    def _repr_html_(self) -> str: ...",
        "",
    ]
    return lines


def errors() -> list[str]:
    """The exceptions."""
    names = [name for name in vars(_chunkwright) if name.endswith("Error")]
    lines = ['"""Made by `stubs.py` from the table of codes; do not edit."""', "", f"__all__ = {json.dumps(names)}", ""]
    for name in names:
        error = getattr(_chunkwright, name)
        base = error.__bases__[0].__name__
        lines += [f"class {name}({base}):", f'    """{error.__doc__}"""', ""]
        lines += ["    code: str", "    errors: list[dict[str, str]]", ""] if base == "Exception" else []
    return lines


def resolved(root: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a schema refers to."""
    reference = schema.get("$ref")
    return root["$defs"][reference.rsplit("/", 1)[1]] if reference else schema


def sample() -> dict[str, Any]:
    return _chunkwright.chunk_text("a", name="a.md")[0].dict()


def main() -> None:
    settings, options = _chunkwright.keys(), _chunkwright.options()
    own = [
        "    config: Path | None",
        '    """A file of settings, `chunkwright.toml`, below the keywords."""',
        "    threads: int | None",
        '    """Number of threads; by default one per processor. Results are the same with any number."""',
    ]
    lines = [HEAD]
    lines += typed_dict("Keys", "Keywords of calls: keys of the settings.", settings["properties"], own)
    k = ["    k: int | None", '    """Short for `top_k`."""']
    lines += typed_dict("Options", "Keywords of searches.", options["properties"], k)
    lines += chunk(_chunkwright.schema("Record"))
    lines += [Path(__file__).with_name("stubs.in").read_text()]
    package = Path(chunkwright.__file__).parent
    (package / "_chunkwright.pyi").write_text("\n".join(lines))
    (package / "_errors.pyi").write_text("\n".join(errors()))
    print(f"types are in {package}")


if __name__ == "__main__":
    main()
