"""Asks questions of manuals and repositories in people's own words, and prints `natural.md`.

    python eval/natural.py PROGRAM FOLDER [--embedder NAME]... [--baseline PROGRAM] [--held-out] > eval/natural.md

PROGRAM is `chunkwright`; FOLDER gets a checkout of every source below that it lacks. `eval/natural/NAME.jsonl` has the
questions and the excerpts that answer them. PROGRAM indexes each source into a store of its own and answers as it does
by default, weak hits included. Beside it stands a stack as one builds with LangChain: its splitter for the format, BM25
of stems and Chinese bigrams, the vectors that PROGRAM makes of its pieces, reciprocal ranks. `--embedder` is `none`,
`static`, `minilm` or `e5`. Half of the documents, by the hash of their path, are held out: `--held-out` asks about those alone,
and belongs to the end of a piece of work. `--sets DIR` writes the questions and documents as the sets that other
measurements read, and ends. It needs `numpy bm25s PyStemmer bpe-openai==0.1.4 langchain-text-splitters`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import math
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen, run
from typing import NamedTuple
from urllib.request import Request, urlopen

import bm25s
import numpy as np
import Stemmer
from bpe_openai import get_encoding  # has the vocabulary, which `tiktoken` downloads
from langchain_text_splitters import Language, RecursiveCharacterTextSplitter


class Source(NamedTuple):
    """A manual or a repository: the files with an ending, in a folder of a commit."""

    name: str
    language: str
    repository: str
    commit: str
    folder: str
    ending: str
    licence: str


TABLE = """
syncthing   English syncthing/docs        766daa6e2b02f68dacc98eccbe49663b6168cbfd .                 .rst  CC-BY-4.0
prometheus  English prometheus/prometheus d15adb9ad7e5d9fbde3a9a8f30200593a5a14d86 docs              .md   Apache-2.0
restic      English restic/restic         a80be1478a4c537f8396e0db2b05120aa78f11e0 doc               .rst  BSD-2-Clause
hexo-zh     Chinese hexojs/site           59ec5bd280851a691489538b05e31c7fcab365e2 source/zh-cn      .md   MIT
sa-token-zh Chinese dromara/Sa-Token      2fbe9029ae9b93115cd9a48995b6c8006a09f565 sa-token-doc      .md   Apache-2.0
werf-ru     Russian werf/werf             73d8d4ac99352a6b05189cfcfa598ad6e0868197 docs/pages_ru     .md   Apache-2.0
yii2-ru     Russian yiisoft/yii2          45e679d7ce99ce11d78d9785123e1ee2da79e17c docs/guide-ru     .md   BSD-3-Clause
httpx       code    encode/httpx          ae1b9f66238f75ced3ced5e4485408435de10768 httpx             .py   BSD-3-Clause
bat         code    sharkdp/bat           2ba8db9c14e5794572f5ea338c2b90404c9769cb src               .rs   Apache-2.0
chi         code    go-chi/chi            735ae2b87f8c733d616e809ae86e0985c1bc3350 .                 .go   MIT
hono        code    honojs/hono           28a9c128912de19f3fb28b00ae289c9b93f6f392 src               .ts   MIT
gson        code    google/gson           9835b6f90192f79cdf5300c528fc6212455fb6c1 gson/src/main/java .java Apache-2.0
tmux        code    tmux/tmux             c1f947a3c5bc72a40c32dead736f84c4628791ec .                 .c    ISC
"""
SOURCES = [Source(*row.split()) for row in TABLE.strip().splitlines()]
#: Tests, examples, copied libraries and declarations without code.
ASIDE = re.compile(r"(^|/)(tests?|testdata|_examples|fuzz|regress|compat|man)/|_test\.|\.test\.|\.d\.ts$")
#: How many tokens a piece of the other stack has at most: about 200 on average then.
PIECE = 300
MARKUP = {".md": Language.MARKDOWN, ".rst": Language.RST, ".py": Language.PYTHON, ".rs": Language.RUST}
MARKUP |= {".go": Language.GO, ".ts": Language.TS, ".java": Language.JAVA, ".c": Language.C}
BUDGET, DEPTH = 1_000, 100
O200K = get_encoding("o200k_base")
logging.getLogger("bm25s").setLevel(logging.WARNING)
STEMS = Stemmer.Stemmer("english"), Stemmer.Stemmer("russian")
#: A piece of a document, in characters; all pieces, and those found for each question, best first.
Span = tuple[str, int, int]
Answers = tuple[list[Span], list[list[Span]]]


class Question(NamedTuple):
    text: str
    document: str
    gold: list[tuple[int, int]]


def files(source: Source, folder: Path) -> dict[str, str]:
    """The documents of a source, fetched if they are not there."""
    root = folder / source.name
    top, found = root / source.folder, {}
    if not top.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        address = f"https://github.com/{source.repository}"
        for command in ["init"], ["fetch", "--depth", "1", address, source.commit], ["checkout", source.commit]:
            run(["git", "-C", str(root), *command, "--quiet"], check=True)
    for path in sorted(top.rglob(f"*{source.ending}")):
        name = path.relative_to(top).as_posix()
        if path.is_file() and not path.is_symlink() and not ASIDE.search(name):
            found[name] = path.read_bytes().decode("utf-8")
    return found


def held_out(source: Source, document: str) -> bool:
    return hashlib.sha256(f"{source.name}/{document}".encode()).digest()[0] % 2 == 0


def questions(source: Source, documents: dict[str, str]) -> list[Question]:
    """All questions about a source, after a check that each excerpt is in its document exactly once."""
    found = []
    for line in (Path(__file__).parent / "natural" / f"{source.name}.jsonl").read_text("utf-8").splitlines():
        row, gold = json.loads(line), []
        text = documents.get(row["document"])
        if text is None:
            raise SystemExit(f"{source.name} has no document `{row['document']}` at {source.commit}")
        for excerpt in row["excerpts"]:
            if text.count(excerpt) != 1 or not 40 <= len(excerpt) <= 600:
                raise SystemExit(f"{source.name}/{row['document']}, {text.count(excerpt)} times: {excerpt!r}")
            gold.append((text.index(excerpt), text.index(excerpt) + len(excerpt)))
        found.append(Question(row["question"], row["document"], sorted(gold)))
    return found


@contextmanager
def serving(program: str, place: Path) -> Iterator[str]:
    """The address of a server of the store in a folder."""
    command = [program, "serve", "--store", str(place / "store"), "--listen", "127.0.0.1:0"]
    with (place / "log").open("w") as log, Popen(command, stdout=log, stderr=log) as server:
        try:
            while not (found := re.search(r"listening on (http\S+)\n", (place / "log").read_text())):
                if server.poll() is not None:
                    raise SystemExit((place / "log").read_text())
                time.sleep(0.05)
            yield found[1]
        finally:
            server.terminate()


@contextmanager
def indexed(program: str, name: str, documents: dict[str, str], *options: str) -> Iterator[tuple[list[str], str]]:
    """A collection of these documents: the options that name it, and the address of a server of it."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        for document, text in documents.items():
            path = place / name / document
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        collection = ["--store", str(place / "store"), "--collection", name]
        index = [program, "index", str(place / name), *collection, *options, "--quiet"]
        if run(index, check=False, cwd=place, stdout=PIPE).returncode not in (0, 3):
            raise SystemExit(f"{program} cannot index {name}")
        with serving(program, place) as address:
            yield collection, f"{address}/api/v1/search"


def ours(program: str, embedder: str, source: Source, documents: dict[str, str], asked: list[Question]) -> Answers:
    """The chunks that the program makes, and its hits for each question."""
    with indexed(program, source.name, documents, "--embedder", embedder) as (collection, address):
        records = run([program, "export", *collection], capture_output=True, text=True, check=True).stdout
        chunks = [span(json.loads(line)) for line in records.splitlines()]
        if missing := {name for name, text in documents.items() if text.strip()} - {name for name, _, _ in chunks}:
            print(f"{source.name}: {len(missing)} documents are not indexed, such as {min(missing)}", file=sys.stderr)
        return chunks, [[span(hit) for hit in ask(address, {"query": it.text})] for it in asked]


def ask(address: str, body: dict) -> list[dict]:
    """The hits, best first, weak ones included."""
    body = json.dumps({"top_k": DEPTH, "min_relevance": 0, **body}).encode()
    with urlopen(Request(address, body, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)["hits"]


def span(record: dict) -> Span:
    return record["doc_id"], record["start_char"], record["end_char"]


def pieces(source: Source, documents: dict[str, str]) -> list[Span]:
    """What LangChain's splitter for the format makes of the documents."""
    limits = {"chunk_size": PIECE, "chunk_overlap": 0, "length_function": tokens, "add_start_index": True}
    splitter = RecursiveCharacterTextSplitter.from_language(MARKUP[source.ending], **limits)
    found = []
    for name, text in documents.items():
        for it in splitter.create_documents([text]):
            if (at := it.metadata["start_index"]) >= 0:
                found.append((name, at, at + len(it.page_content)))
    return found


def words(text: str, language: str) -> list[str]:
    """Stems; of Chinese, pairs of neighbours; of code, the parts of names."""
    if language == "code":
        text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).replace("_", " ")
    found = []
    for part in re.findall(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+", text.lower()):
        if "\u3400" <= part[0] <= "\u9fff":
            found += [part[at : at + 2] for at in range(len(part) - 1)] or [part]
        else:
            found.append(STEMS[language == "Russian"].stemWord(part))
    return found


def lexical(texts: list[str], asked: list[Question], language: str) -> np.ndarray:
    """BM25 of every text, for every question."""
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index([words(text, language) for text in texts], show_progress=False)
    return np.stack([index.get_scores(sorted({*words(it.text, language)})) for it in asked])


def dense(program: str, embedder: str, texts: list[str], asked: list[Question]) -> list[list[int]]:
    """The texts nearest to each question by the program's own vectors, each text a document of one chunk."""
    whole = "--embedder", embedder, "--preset", "recursive", "--max-size", "100000"
    with indexed(program, "pieces", {f"{at}.txt": text for at, text in enumerate(texts)}, *whole) as (_, address):
        hits = [ask(address, {"query": it.text, "mode": "dense", "duplicates": "keep"}) for it in asked]
        return [[int(hit["doc_id"].removesuffix(".txt")) for hit in found] for found in hits]


def theirs(program: str, embedder: str, source: Source, documents: dict[str, str], asked: list[Question]) -> Answers:
    """The pieces of the other stack, and its hits for each question."""
    spans = pieces(source, documents)
    texts = [documents[name][start:end] for name, start, end in spans]
    scores = lexical(texts, asked, source.language)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    stages = [[[int(at) for at in row if of[at] > 0] for row, of in zip(best, scores)]]
    if embedder == "e5" or (embedder in ("static", "minilm") and source.language in ("English", "code")):  # what the model knows
        stages.append(dense(program, embedder, texts, asked))
    hits = []
    for rankings in zip(*stages):
        fused: dict[int, float] = {}
        for ranking in rankings:
            for rank, at in enumerate(ranking):
                fused[at] = fused.get(at, 0.0) + 1 / (60 + rank + 1)
        hits.append([spans[at] for at in sorted(fused, key=lambda at: -fused[at])[:DEPTH]])
    return spans, hits


def tokens(text: str) -> int:
    return len(O200K.encode(text, disallowed_special=()))


def shared(hit: Span, question: Question) -> set[int]:
    """The characters of the answer that a hit shows."""
    name, start, end = hit
    if name != question.document:
        return set()
    return {at for low, high in question.gold for at in range(max(start, low), min(end, high))}


def measured(question: Question, chunks: list[Span], hits: list[Span], documents: dict[str, str]) -> list[float]:
    """The share of the answer in the first 1,000 tokens, nDCG of 10 hits, and whether one of 5 shows half of it."""
    whole = sum(high - low for low, high in question.gold)
    seen: set[int] = set()
    left = BUDGET
    for name, start, end in hits:
        ids = O200K.encode(documents[name][start:end], disallowed_special=())
        if len(ids) > left:  # the last is cut
            end = start + len(O200K.decode(ids[:left]).rstrip("\ufffd"))
        seen |= shared((name, start, end), question)
        left -= len(ids)
        if left <= 0:
            break
    ideal = sorted((len(shared(chunk, question)) / whole for chunk in chunks), reverse=True)
    gains = [len(shared(hit, question)) / whole for hit in hits]
    best, got = (sum(gain / math.log2(at + 2) for at, gain in enumerate(row[:10])) for row in (ideal, gains))
    return [len(seen) / whole, got / best if best else 0.0, float(max(gains[:5], default=0) >= 0.5)]


def interval(differences: np.ndarray) -> str:
    """A mean difference in points, and the middle 95 % of it over 2,000 draws of the questions."""
    chosen = np.random.default_rng(31).integers(0, len(differences), (2_000, len(differences)))
    low, high = np.percentile(differences[chosen].mean(1), [2.5, 97.5])
    return f"{100 * differences.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def table(found: dict[str, dict[str, np.ndarray]], label: str) -> None:
    """Prints a row for each name: what every side found, and the differences of the first side from the others."""
    first, *others = sides = [*next(iter(found.values()))]
    heads = [f"{metric}, {side}" for metric in ("R@1000", "nDCG@10", "hit@5") for side in sides]
    heads[len(sides) : len(sides)] = [f"R@1000 minus {side}" for side in others]
    print(f"| {label} | questions | {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) + 1)}")
    for name, row in found.items():
        cells = [[f"{100 * row[side][:, at].mean():.1f}" for side in sides] for at in range(3)]
        cells[0] += [interval(row[first][:, 0] - row[side][:, 0]) for side in others]
        print(f"| {name} | {len(row[first])} | {' | '.join(cell for part in cells for cell in part)} |")
    print()


def write_sets(folder: Path, data: dict[Source, dict[str, str]], asked: dict[Source, list[Question]]) -> None:
    """A question set of each language, as the other measurements read them."""
    for source, documents in data.items():
        place = folder / f"natural-{source.language.lower()}"
        for name, text in documents.items():
            path = place / "docs" / source.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        with (place / "questions.jsonl").open("a", encoding="utf-8") as lines:
            for it in asked[source]:
                document = f"{source.name}/{it.document}"
                gold = [{"doc": document, "start": start, "end": end} for start, end in it.gold]
                row = {"q": it.text, "gold": gold}
                print(json.dumps(row, ensure_ascii=False), file=lines)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("program")
    reader.add_argument("folder", type=Path)
    reader.add_argument("--embedder", action="append", choices=["none", "static", "minilm", "e5"])
    reader.add_argument("--baseline")
    reader.add_argument("--only", action="append")
    reader.add_argument("--held-out", action="store_true")
    reader.add_argument("--sets", type=Path)
    given = reader.parse_args()
    named = [it for it in SOURCES if not given.only or it.name in given.only]
    programs = {"ours": given.program} | ({"baseline": given.baseline} if given.baseline else {})
    programs = {side: shutil.which(program) or str(Path(program).resolve()) for side, program in programs.items()}
    data = {source: files(source, given.folder) for source in named}
    every_one = {source: questions(source, data[source]) for source in named}
    asked = {of: [it for it in every_one[of] if held_out(of, it.document) == given.held_out] for of in named}
    if given.sets:
        return write_sets(given.sets, data, asked)
    half = "held-out" if given.held_out else "open"
    print(f"""# Questions in people's own words

Made by `eval/natural.py` from `eval/natural/`: questions written by reading the documents, in other words than theirs.
These are of the {half} half of the documents. R@1000 is the share of the answer's characters inside the first
{BUDGET:,} tokens (o200k) of the hits; hit@5, whether one of five shows half of the answer. Differences are in points,
with the middle 95 % of 2,000 draws of the questions.

| source | documents | questions | of them {half} | language | licence |
|---|---:|---:|---:|---|---|""")
    for it in named:
        numbers = f"{len(data[it])} | {len(every_one[it])} | {len(asked[it])}"
        address = f"[{it.name}](https://github.com/{it.repository}/tree/{it.commit})"
        print(f"| {address} | {numbers} | {it.language} | {it.licence} |")
    for embedder in given.embedder or ["none", "static"]:
        sources: dict[str, dict[str, np.ndarray]] = {}
        sizes: dict[str, list[int]] = {}
        for source in named:
            given_all = embedder, source, data[source], asked[source]
            runs = {side: ours(program, *given_all) for side, program in programs.items()}
            runs["LangChain"] = theirs(programs["ours"], *given_all)
            row = sources[source.name] = {}
            for side, (chunks, hits) in runs.items():
                row[side] = np.array([measured(it, chunks, hit, data[source]) for it, hit in zip(asked[source], hits)])
                sizes.setdefault(side, []).extend(tokens(data[source][name][a:b]) for name, a, b in chunks)
        languages: dict[str, dict[str, np.ndarray]] = {}
        for language in dict.fromkeys(it.language for it in named):
            rows = [sources[it.name] for it in named if it.language == language]
            languages[language] = {side: np.concatenate([row[side] for row in rows]) for side in runs}
        print(f"\n## With `--embedder {embedder}`\n")
        table(languages, "language")
        table(sources, "source")
        print("; ".join(f"{side}: {len(of):,} pieces of {np.mean(of):.0f} tokens" for side, of in sizes.items()))


main()
