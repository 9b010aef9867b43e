"""Types: the package and a program that uses it pass mypy and pyright as strict."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import chunkwright as cw

PACKAGE = Path(cw.__file__).parent
PROGRAM = Path(__file__).with_name("typed.py")
#: Modules whose types are those of other packages, and one whose types are in a stub.
OTHERS = ("_errors", "_stores", "_targets", "haystack", "langchain", "llama_index")
#: Of the packages of those, mypy would read a thousand files.
MYPY = f"""[mypy]
strict = True
ignore_missing_imports = True
[mypy-haystack.*,langchain_core.*,llama_index.*]
follow_imports = skip
[mypy-{",".join(f"chunkwright.{name}" for name in OTHERS)}]
ignore_errors = True
"""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, check=False)


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    settings.write_text(MYPY)
    mypy = ("mypy", "--config-file", settings, "--cache-dir", tmp_path / "cache")
    checked = run(*mypy, PROGRAM)
    assert checked.returncode == 0, checked.stdout
    # Of a copy, as mypy does not check what is installed.
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "chunkwright", ignore=shutil.ignore_patterns("*.so", "__pycache__")))
    modules = [path for path in copy.glob("*.py") if path.stem not in OTHERS]
    checked = run(*mypy, *modules)
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
