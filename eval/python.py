"""Measures the Python package against other chunkers and against the program, and prints a section of `speed.md`.

    python eval/python.py PROGRAM FOLDER

FOLDER holds Markdown; PROGRAM is `chunkwright`, built as the package is. Everything runs in turn, three times; the table has
medians. `pip install chunkwright langchain-text-splitters llama-index-core chonkie semantic-text-splitter semchunk`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chunkwright as cw

ROUNDS = 3
#: About the same: a token of English prose has some four characters.
CHARS, TOKENS = 1_024, 256


def ways() -> dict[str, dict[str, Callable[[list[str]], int]]]:
    """What is measured, by characters and by tokens: each cuts all texts and returns the number of chunks."""
    found: dict[str, dict[str, Callable[[list[str]], int]]] = {"characters": {}, "tokens": {}}

    def add(unit: str, name: str, cut: Callable[[str], object]) -> None:
        found[unit][name] = lambda texts: sum(len(cut(text)) for text in texts)  # type: ignore[arg-type]

    def together(**keys: object) -> Callable[[list[str]], int]:
        return lambda texts: len(
            cw.chunk([{"doc_id": f"{at}.md", "text": text} for at, text in enumerate(texts)], **keys)
        )

    chars, tokens = {"unit": "chars", "max_size": CHARS}, {"max_size": TOKENS, "tokenizer": "cl100k"}
    found["characters"]["chunkwright, a call"] = together(**chars)
    found["tokens"]["chunkwright, a call"] = together(**tokens)
    add("characters", "chunkwright, a call a text", lambda text: cw.chunk_text(text, **chars))
    add("tokens", "chunkwright, a call a text", lambda text: cw.chunk_text(text, **tokens))

    def count(text: str) -> int:
        """Counts by `cl100k`, as fast as `tiktoken` or faster: the other libraries count by a function."""
        return cw.count_tokens(text, tokenizer="cl100k")

    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(chunk_size=CHARS, chunk_overlap=0)
        add("characters", "langchain-text-splitters", splitter.split_text)
        by_tokens = RecursiveCharacterTextSplitter(chunk_size=TOKENS, chunk_overlap=0, length_function=count)
        add("tokens", "langchain-text-splitters", by_tokens.split_text)
    except ImportError:
        pass
    try:
        from llama_index.core.node_parser import SentenceSplitter

        words = SentenceSplitter(chunk_size=CHARS, chunk_overlap=0, tokenizer=list)
        add("characters", "llama-index", words.split_text)
        by_tokens = SentenceSplitter(chunk_size=TOKENS, chunk_overlap=0, tokenizer=lambda text: range(count(text)))
        add("tokens", "llama-index", by_tokens.split_text)
    except ImportError:
        pass
    try:
        from chonkie import RecursiveChunker

        add("characters", "chonkie", RecursiveChunker(tokenizer="character", chunk_size=CHARS))
    except ImportError:
        pass
    try:
        from semantic_text_splitter import MarkdownSplitter

        add("characters", "semantic-text-splitter", MarkdownSplitter(CHARS).chunks)
        add("tokens", "semantic-text-splitter", MarkdownSplitter.from_tiktoken_model("gpt-4", TOKENS).chunks)
    except ImportError:
        pass
    try:
        import semchunk

        add("characters", "semchunk", semchunk.chunkerify(len, CHARS))
        add("tokens", "semchunk", semchunk.chunkerify(count, TOKENS))
    except ImportError:
        pass
    return found


def median(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    program, folder = sys.argv[1], Path(sys.argv[2])
    texts = [path.read_text() for path in sorted(folder.rglob("*.md"))]
    size = sum(len(text.encode()) for text in texts) / 1e6
    print("## The Python package\n")
    print(f"{len(texts)} files of Markdown, {size:.1f} MB, medians of {ROUNDS} rounds, chunks of at most {CHARS:,} characters or {TOKENS} tokens.\n")
    for unit, named in ways().items():
        print(f"| by {unit} | chunks | MB/s |\n|---|--:|--:|")
        for name, cut in named.items():
            number = cut(texts)
            print(f"| {name} | {number:,} | {size / median(lambda: cut(texts)):.2f} |", flush=True)
        print()
    own = median(lambda: cw.chunk(folder, include="*.md"))
    flags = ["chunk", str(folder), "--include", "*.md", "--format", "jsonl", "--quiet"]
    command = median(lambda: subprocess.run([program, *flags], stdout=subprocess.DEVNULL, check=True))
    start = [sys.executable, "-c"]
    bare = median(lambda: subprocess.run([*start, "pass"], check=True))
    imported = median(lambda: subprocess.run([*start, "import chunkwright"], check=True))
    text = "# Bees\n\nFeed them in autumn.\n"
    cw.chunk_text(text)
    small = median(lambda: cw.chunk_text(text), 1_000)
    print("| what | time |\n|---|--:|")
    print(f"| `cw.chunk(folder)` | {own:.3f} s, {own / command:.2f} times the program's |")
    print(f"| `import chunkwright`, beyond the interpreter's start | {1e3 * (imported - bare):.0f} ms |")
    print(f"| `cw.chunk_text` of a small text, after the first | {1e3 * small:.3f} ms |")


if __name__ == "__main__":
    main()
