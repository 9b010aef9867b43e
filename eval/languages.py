"""Asks the questions of one language about the documents of another, and prints `languages.md`.

    python eval/languages.py PROGRAM DATA [--embedder NAME]... > eval/languages.md

PROGRAM is `chunkwright`. DATA holds the question sets `fastapi-ru` and `fastapi-zh`, one manual in two languages with the same
paths, and `xquad-en`, `xquad-ru` and `xquad-zh`, whose questions are about something else: each a folder `docs` and
`questions.jsonl`, lines with a question `q` and the documents `gold` that have its answer. Without `--embedder` it is `none`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

FIRST = 5
OFF_TOPIC = 200
ADDRESS = "127.0.0.1:18095"


def call(path: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"http://{ADDRESS}/api/v1/{path}", data, {"content-type": "application/json"})
    return json.load(urlopen(request, timeout=60))


@contextmanager
def served(program: str, store: str, docs: Path, embedder: str):
    """A server of the documents."""
    subprocess.run([program, "index", docs, "--store", store, "--embedder", embedder, "-q"], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([program, "serve", "--store", store, "--listen", ADDRESS], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                call("collections")
                break
            except URLError:
                time.sleep(0.1)
        yield
    finally:
        server.kill()
        server.wait()


def questions(data: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (data / name / "questions.jsonl").read_text("utf-8").splitlines()]


def share(of: list[bool]) -> str:
    return f"{100 * sum(of) / len(of):.0f} % of {len(of)}"


def asked(data: Path, name: str) -> str:
    """The share of questions whose document is among the first hits."""
    found = []
    for question in questions(data, name):
        hits = call("search", {"query": question["q"], "top_k": FIRST})["hits"]
        found.append(bool({hit["doc_id"] for hit in hits} & {it["doc"] for it in question["gold"]}))
    return share(found)


def off_topic(data: Path, name: str) -> str:
    """The share of questions about something else that find nothing, or probably no answer."""
    told = []
    for question in questions(data, name)[:OFF_TOPIC]:
        answer = call("search", {"query": question["q"]})
        codes = {notice["code"] for notice in answer.get("notices", [])}
        told.append(not answer["hits"] or "probably_no_answer" in codes)
    return share(told)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("program")
    reader.add_argument("data", type=Path)
    reader.add_argument("--embedder", action="append", choices=["none", "static", "e5"])
    given = reader.parse_args()
    print(f"""# Questions in another language

Made by `eval/languages.py`, from question sets that are not in the repository: one manual in Russian and in Chinese, and what
links in it say as questions. A question counts as answered if a document that it is about is among those of the first {FIRST} hits.
Questions about something else should find nothing, or be told that there is probably no answer.
""")
    print("| Documents | Embedder | Russian questions | Chinese questions | about something else: English | Russian | Chinese |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for language, name in [("Russian", "fastapi-ru"), ("Chinese", "fastapi-zh")]:
        for embedder in given.embedder or ["none"]:
            with tempfile.TemporaryDirectory() as folder:
                with served(given.program, f"{folder}/store", given.data / name / "docs", embedder):
                    about = [asked(given.data, f"fastapi-{it}") for it in ("ru", "zh")]
                    others = [off_topic(given.data, f"xquad-{it}") for it in ("en", "ru", "zh")]
            print(f"| {language} | `{embedder}` | {' | '.join(about + others)} |", flush=True)


main()
