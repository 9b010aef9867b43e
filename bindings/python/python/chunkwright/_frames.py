"""Chunks as tables of other libraries, which are imported only here."""

from __future__ import annotations

import importlib
from typing import Any


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs `{name}`; install it with `pip install {name}`") from error


def pandas(chunks: Any) -> Any:
    return pandas_of(chunks.dicts())


def pandas_of(rows: Any) -> Any:
    return library("pandas").DataFrame([dict(row) for row in rows])


def arrow(chunks: Any) -> Any:
    return library("pyarrow").table(chunks)


def polars(chunks: Any) -> Any:
    return library("polars").DataFrame(chunks)
