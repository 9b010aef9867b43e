"""Types: the package and a program that uses it pass mypy and pyright as strict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chunkwright as cw

PACKAGE = Path(cw.__file__).parent
PROGRAM = Path(__file__).with_name("typed.py")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, check=False)


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    checked = run("mypy", "--strict", "--cache-dir", tmp_path, "--ignore-missing-imports", PROGRAM)
    assert checked.returncode == 0, checked.stdout
    modules = [path for path in PACKAGE.glob("*.py") if path.stem not in ("_errors", "_stores", "_targets", "haystack", "langchain", "llama_index")]
    checked = run("mypy", "--strict", "--cache-dir", tmp_path, "--ignore-missing-imports", *modules)
    assert checked.returncode == 0, checked.stdout


def test_pyright_finds_nothing(tmp_path: Path) -> None:
    settings = {"include": [str(PROGRAM)], "typeCheckingMode": "strict", "venvPath": str(Path(sys.prefix).parent), "venv": Path(sys.prefix).name}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    checked = run("pyright", "--project", tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_keywords_are_those_of_the_tables() -> None:
    stub = (PACKAGE / "_chunkwright.pyi").read_text()
    for name in cw.keys()["properties"]:
        assert f"    {name}: " in stub
    for name in cw.options()["properties"]:
        assert f"    {name}: " in stub
    for name in cw.schema("Record")["required"]:
        assert f"    def {name}(self)" in stub
