"""What all tests use: the documents of the repository, and a store of their own."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
CORPUS = REPOSITORY / "examples" / "corpus"


def toy_vectors(texts: list[str]) -> list[list[float]]:
    """Vectors that depend on the text alone: equal texts have equal ones."""
    digests = (hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
    return [[byte / 255 - 0.5 for byte in digest] for digest in digests]


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWRIGHT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CHUNKWRIGHT_EMBEDDER", "none")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A copy of the example documents."""
    return Path(shutil.copytree(CORPUS, tmp_path / "corpus"))
