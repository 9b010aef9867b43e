"""Code of the caller in place of what the settings name: counters, embedders, rerankers, strategies."""

from __future__ import annotations

import pytest

import chunkwright as cw
from conftest import CORPUS, toy_vectors


def test_a_function_counts_tokens() -> None:
    def words(text: str) -> int:
        return len(text.split())

    chunks = cw.chunk(CORPUS / "en" / "bread.md", tokenizer=words, max_size=32)
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.token_count == words(chunk.text) <= 32 or chunk.oversize
        assert chunk.tokenizer.endswith("words")


def test_a_tokenizer_object_counts_what_it_encodes() -> None:
    class Letters:
        name = "letters"

        def encode(self, text: str) -> list[str]:
            return list(text)

    chunks = cw.chunk_text("# A\n\n" + "word " * 100, tokenizer=Letters(), max_size=64)
    assert all(chunk.token_count == len(chunk.text) for chunk in chunks)


def test_what_a_function_raises_is_raised_by_the_call() -> None:
    def broken(text: str) -> int:
        raise KeyError("no vocabulary")

    with pytest.raises(KeyError, match="no vocabulary"):
        cw.chunk(CORPUS, tokenizer=broken)
    # The next call is not affected.
    assert len(cw.chunk(CORPUS)) > 0


def test_a_function_says_where_chunks_begin_and_the_limit_is_kept_all_the_same() -> None:
    def paragraphs(text: str, max_size: int) -> list[int]:
        starts = [0]
        while (at := text.find("\n\n", starts[-1])) >= 0:
            starts.append(at + 2)
        return starts

    source = (CORPUS / "zh" / "green-tea.md").read_text()
    chunks = cw.chunk_text(source, name="tea.md", strategy=paragraphs, max_size=64)
    assert {chunk.strategy_version for chunk in chunks} == {"paragraphs-v1.0"}
    assert all(chunk.token_count <= 64 or chunk.oversize for chunk in chunks)
    assert "".join(source.split()) == "".join("".join(chunk.content for chunk in chunks).split())


def test_a_function_embeds_and_another_reranks() -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.append(list(texts))
        return toy_vectors(texts)

    def longest(query: str, texts: list[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    index = cw.Index(CORPUS / "en", embedder=embed, reranker=longest)
    texts = {chunk.text for chunk in cw.chunk(CORPUS / "en")}
    assert texts <= {text for batch in asked for text in batch}
    asked.clear()
    index.index(CORPUS / "en")
    assert asked == []
    hits = index.search("how bread is baked", k=5, mode="hybrid", min_relevance=0)
    lengths = [len(hit.context + hit.content) for hit in hits]
    assert len(hits) > 1 and lengths == sorted(lengths, reverse=True)


def test_an_embedder_that_gives_too_few_vectors_is_refused() -> None:
    def one(texts: list[str]) -> list[list[float]]:
        return toy_vectors(texts[:1])

    index = cw.Index(embedder=one)
    answer = index.index(CORPUS / "en")
    assert any("it must give one of 16 numbers for each" in str(answer) for _ in [0]) or answer.failed
