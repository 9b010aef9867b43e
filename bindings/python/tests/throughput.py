"""Cuts a folder by a loop in this process and by engines, and compares rows and times.

    python throughput.py FOLDER [daft] [ray] [spark]

Seconds of processors are those of all processes of an engine after its start, which other work on the machine disturbs less.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow

from chunkwright import _tables
from engines import Daft, Ray, Spark, ordered


def loop(folder: Path) -> Any:
    """The rows of files in order, a batch at a time."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    tables = []
    for start in range(0, len(files), _tables.BATCH):
        batch = files[start : start + _tables.BATCH]
        documents = [_tables.Document(path.relative_to(folder).as_posix(), path.read_bytes()) for path in batch]
        tables += _tables.cut(documents, {}, files=True)
    return pyarrow.concat_tables(tables)


def processors() -> float:
    """Seconds that this process and those below it have computed."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.Error:
            pass  # It ended meanwhile.
    return total


def measured(name: str, rows: Callable[[], Any]) -> Any:
    computed, began = processors(), time.monotonic()
    table = rows()
    seconds, computed = time.monotonic() - began, processors() - computed
    print(f"{name}: {table.num_rows} rows, {seconds:.1f} s, {computed:.1f} s of processors", flush=True)
    return ordered(table)


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1]).resolve()
    expected = measured("loop", lambda: loop(folder))
    for kind in (Daft, Ray, Spark):
        if kind.name in sys.argv[2:]:
            engine = kind()
            rows = measured(
                kind.name,
                lambda engine=engine: engine.table(  # type: ignore[misc]
                    engine.module.chunk_files(*engine.before, engine.folder(folder))
                ),
            )
            print(f"{kind.name}: {'the same rows' if rows.equals(expected) else 'OTHER ROWS'}", flush=True)


if __name__ == "__main__":
    main()
