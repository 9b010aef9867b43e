"""Answers of the engine: dictionaries whose members are attributes too, and lists of them that a notebook shows as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def answer(value: Any) -> Any:
    """A value of JSON with its objects as answers."""
    if isinstance(value, dict):
        return Answer(value)
    if isinstance(value, list):
        return Answers(value) if value and all(isinstance(item, dict) for item in value) else [answer(item) for item in value]
    return value


class Answer(dict[str, Any]):
    """A dictionary whose members are attributes too."""

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__((name, answer(value)) for name, value in members.items())

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"the answer has no member `{name}`; it has {known}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]

    def _repr_html_(self) -> str:
        from ._notebook import answer

        return answer(self)


class Answers(list[Answer]):
    """A list of answers."""

    def __init__(self, items: Iterable[dict[str, Any]]) -> None:
        super().__init__(item if isinstance(item, Answer) else Answer(item) for item in items)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, a row an answer."""
        from ._frames import pandas_of

        return pandas_of(self)

    def _repr_html_(self) -> str:
        from ._notebook import table

        return table(self)
