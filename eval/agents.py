"""Asks questions of three repositories as an agent does, by the official client of MCP, and prints `agents.md`.

    python eval/agents.py PROGRAM FOLDER [--embedder NAME]... [--wait SECONDS] [ARGUMENT]... > eval/agents.md

PROGRAM is `chunkwright`. FOLDER holds a checkout of each repository below, at its commit. Each question of
`eval/agents/NAME.jsonl` is one call of `search`, with a query and nothing else. Without `--embedder` the program chooses;
`none`, `static`, `minilm` and `e5` may be given, several in turn. `--wait` limits how long vectors are waited for before the first
question (600 s). Other arguments go to `PROGRAM mcp`. `pip install mcp==2.3.0 bpe-openai==0.1.4`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from subprocess import run

from bpe_openai import get_encoding  # has the vocabulary, which `tiktoken` downloads
from mcp import StdioServerParameters
from mcp.client import Client

REPOSITORIES = {
    "click": ("https://github.com/pallets/click", "2c8cd3ac958a7eb316d67f2d316c27086c4c0369"),
    "gin": ("https://github.com/gin-gonic/gin", "dcaa4296d111981ffb31ac3eba90bb63e1eb5ab9"),
    "es6tutorial": ("https://github.com/ruanyf/es6tutorial", "fc58b0c1505654bde876ace4f8f1f7f5882876fa"),
}
OFF_TOPIC = "off topic"
FIRST = 5
#: What an answer says when the repository probably does not have one.
WEAK = re.compile(r"nothing relevant|nothing was found|no (\w+ )?answer|\bweak\b", re.IGNORECASE)
#: What `status` says while words are not searched yet, and while vectors are still added.
INDEXING = re.compile(r"indexing \d+ %|waiting for another process")
ADDING = re.compile(r"so far; (?!.*paused)|wait for vectors|\"pending\": [1-9]")
O200K = get_encoding("o200k_base")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def tokens(text: str) -> int:
    return len(O200K.encode(text, disallowed_special=()))


def shown(result) -> str:
    """The text that a client hands to its model; structured results only where the text points to them."""
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise SystemExit(f"a call failed: {text}")
    if result.structured_content and (not text or "structuredContent" in text):
        text += "\n" + json.dumps(result.structured_content, ensure_ascii=False)
    return text


def read(text: str) -> tuple[list[tuple[str, str]], str]:
    """The hits of an answer, each the line above a fence and the text in it, and what the answer says besides."""
    start = re.search(r'^\{"(untrusted|results)"', text, re.MULTILINE)
    if start:
        answer = json.loads(text[start.start() :])
        hits = answer.pop("results")
        return [(f"{it['doc_id']}:{it['start_line']}-{it['end_line']}", it["content"]) for it in hits], str(answer)
    hits, rest, fence, body = [], [""], "", []
    for line in text.splitlines():
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if not fence and mark:
            fence, body = mark[1], []
        elif fence and line.strip() == fence:
            hits.append((rest.pop(), "\n".join(body)))
            fence, rest = "", rest or [""]
        elif fence:
            body.append(line)
        elif line.strip():
            rest.append(line)
    return hits, "\n".join(rest)


def answers(hit: tuple[str, str], place: dict, root: Path) -> bool:
    """Whether a hit shows a place: its path, and the answer both in the text and in the lines that it names."""
    heading, text = hit
    range_of = rf"(?<![\w/.-]){re.escape(place['path'])}\W{{0,4}}(?:lines? )?L?(\d+)(?:\W{{1,3}}L?(\d+))?"
    found = re.search(range_of, heading)
    if not found or squeezed(place["answer"]) not in squeezed(text):
        return False
    first, last = int(found[1]), int(found[2] or found[1])
    lines = (root / place["path"]).read_text("utf-8").split("\n")[first - 1 : last]
    return squeezed(place["answer"]) in squeezed("\n".join(lines))


async def ready(client: Client, started: float, wait: float) -> tuple[float, float | None]:
    """Seconds until words are searched, and until everything is; `None` if that takes longer than `wait`."""
    words = None
    while True:
        state, seconds = shown(await client.call_tool("status", {})), time.monotonic() - started
        if "indexing failed" in state or (words is None and seconds > wait):
            raise SystemExit(f"not indexed after {seconds:.0f} s: {state}")
        if not INDEXING.search(state):
            words = words or seconds
            if seconds > wait or not ADDING.search(state):
                return words, None if ADDING.search(state) else seconds
        await asyncio.sleep(0.1)


async def ask(name: str, root: Path, command: list[str], environment: dict, wait: float):
    """Asks all questions of a repository."""
    lines = (Path(__file__).parent / "agents" / f"{name}.jsonl").read_text("utf-8").splitlines()
    questions, started = [json.loads(line) for line in lines], time.monotonic()
    for place in (place for question in questions for place in question.get("places", [])):
        path = root / place["path"]
        if not path.exists() or squeezed(place["answer"]) not in squeezed(path.read_text("utf-8")):
            raise SystemExit(f"{path} does not have `{place['answer']}`: check out {' '.join(REPOSITORIES[name])}")
    server = StdioServerParameters(command=command[0], args=[*command[1:]], env=environment, cwd=root.parent)
    async with Client(server) as client:
        tools = [it.model_dump(mode="json", by_alias=True, exclude_none=True) for it in (await client.list_tools()).tools]
        # What clients hand to their models of a tool.
        brief = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        told = [tokens(json.dumps(brief)), tokens(json.dumps(tools)), tokens(client.instructions or "")]
        seconds = await ready(client, started, wait)
        for question in questions:
            text = shown(await client.call_tool("search", {"query": question["question"]}))
            hits, rest = read(text)
            found = any(answers(hit, place, root) for hit in hits[:FIRST] for place in question.get("places", []))
            question["tokens"], question["weak"] = tokens(text), not hits or bool(WEAK.search(rest))
            question["right"] = question["weak"] if question["kind"] == OFF_TOPIC else found
            question["got"] = [f"`{heading.split(' | ')[0]}`" for heading, _ in hits[:FIRST]]
    return questions, seconds, told


def table(found: dict) -> None:
    """Prints what was found in each repository, and the questions missed."""

    def share(asked: list[dict]) -> str:
        return f"{sum(it['right'] for it in asked)} of {len(asked)}"

    rows: dict[str, list[str]] = {}
    for asked, (words, everything), _ in found.values():
        about = [it for it in asked if it["kind"] != OFF_TOPIC]
        cells = {kind: share([it for it in about if it["kind"] == kind]) for kind in dict.fromkeys(it["kind"] for it in about)}
        cells["**answered**"] = f"**{share(about)}**"
        cells["answered, yet said to be weak"] = str(sum(it["right"] and it["weak"] for it in about))
        cells["off topic, said to be so"] = share([it for it in asked if it["kind"] == OFF_TOPIC])
        cells["tokens of an answer, median"] = f"{statistics.median(it['tokens'] for it in asked):,.0f}"
        cells["tokens of an answer, most"] = f"{max(it['tokens'] for it in asked):,}"
        cells["seconds until words are searched"] = f"{words:.1f}"
        cells["seconds until everything is"] = "not in time" if everything is None else f"{everything:.1f}"
        for title, cell in cells.items():
            rows.setdefault(title, []).append(cell)
    print(f"| | {' | '.join(found)} |\n|---|{'---:|' * len(found)}")
    print("\n".join(f"| {title} | {' | '.join(cells)} |" for title, cells in rows.items()))
    brief, full, instructions = next(iter(found.values()))[2]
    print(f"\nThe list of tools has {brief:,} tokens, {full:,} with output schemas; the instructions have {instructions:,}.")
    missed = [(name, it) for name, (asked, _, _) in found.items() for it in asked if not it["right"]]
    print(f"\nMissed: {len(missed)}\n")
    for name, it in missed:
        wanted = dict.fromkeys(f"`{place['path']}`" for place in it.get("places", []))
        wanted, got = (", ".join(places) or "nothing" for places in (wanted, it["got"]))
        print(f'* {name}, {it["kind"]}, "{it["question"]}": wanted {wanted}; got {got}')


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("program", type=Path)
    reader.add_argument("folder", type=Path)
    reader.add_argument("--embedder", action="append", choices=["none", "static", "minilm", "e5"])
    reader.add_argument("--wait", type=float, default=600.0)
    given, arguments = reader.parse_known_args()
    program, folder = str(given.program.resolve()), given.folder.resolve()
    models = run([program, "models", "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    models = [Path(path).parent for path in (json.loads(line).get("path") for line in models) if path]
    print(f"""# Questions of agents

Made by `eval/agents.py`: thirty questions each on three repositories (`eval/agents/`), written before they were first
asked. Each is one call of `search` by the official client, with a query and nothing else. It counts as answered if one of
the first {FIRST} hits shows a line that answers it. Tokens are those of o200k; times are of one machine.
""")
    print("\n".join(f"* {name}: {url}, commit `{commit[:12]}`" for name, (url, commit) in REPOSITORIES.items()))
    for embedder in given.embedder or [None]:
        environment, found = {"CHUNKWRIGHT_EMBEDDER": embedder} if embedder else {}, {}
        for name in REPOSITORIES:
            with tempfile.TemporaryDirectory() as data:
                for path in models[:1]:  # an index of its own, with the models that are installed
                    (Path(data) / "models").symlink_to(path)
                command = [program, "mcp", str(folder / name), "--data", data, *arguments]
                found[name] = asyncio.run(ask(name, folder / name, command, environment, given.wait))
        print(f"\n## {f'With `--embedder {embedder}`' if embedder else 'As it is installed'}\n")
        table(found)


main()
