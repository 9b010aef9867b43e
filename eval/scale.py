#!/usr/bin/env python3
"""What more chunks cost: python eval/scale.py PROGRAM FOLDER EMBEDDER CHUNKS...

For each number of chunks, documents of two hundred sections are written into FOLDER, which needs 2 GB a million, cut in shards that are joined,
indexed into an embedded store, and asked by a server, one query after another. Words are drawn as a language draws them."""
import os, random, re, shutil, subprocess, sys, time
from pathlib import Path

import pyarrow.parquet

from stores import QUERIES, Embedded, drawn_words, size, timed

SHARDS = 4
SECTIONS = 200


def write(folder, chunks):
    """Documents of sections, each of two of so many lines that hardly any two sections are alike."""
    draw, source = drawn_words(), random.Random(1)
    lines = [f"{draw(28).capitalize()}.\n" for _ in range(20_000)]
    titles = [draw(3).capitalize() for _ in range(20_000)]
    for document in range(chunks // SECTIONS):
        below = folder / f"{document // 1_000:04}"
        below.mkdir(parents=True, exist_ok=True)
        pick = lambda: "".join(source.choices(lines, k=2))
        parts = [f"## {source.choice(titles)} {document}-{at}\n\n{pick()}\n" for at in range(SECTIONS)]
        (below / f"d{document:06}.md").write_text(f"# Document {document}\n\n{''.join(parts)}")
    return lines


def status_of(process, name):
    """A number of MiB from the status of a process, 0 if it has ended."""
    found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0


class Cost:
    """Seconds of the clock and of processors, and memory in MiB, of the programs that `run` runs."""

    def __init__(self, program, folder):
        self.program, self.folder, self.seconds, self.processor, self.memory = program, folder, 0.0, 0.0, 0.0

    def run(self, *words):
        began = time.perf_counter()
        child = subprocess.Popen([self.program, *words, "-q"], cwd=self.folder, stdout=subprocess.DEVNULL)
        while True:
            # The memory that the system tells at the end would be at least that of this process.
            self.memory = max(self.memory, status_of(child, "VmHWM"))
            ended, code, used = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.01)
        if code:
            sys.exit(f"{words} failed: {code}")
        self.seconds += time.perf_counter() - began
        self.processor += used.ru_utime + used.ru_stime
        return self


def measure(program, folder, embedder, chunks):
    """Figures by name, each a number."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = write(folder / "docs", chunks)
    cost = lambda *words: Cost(program, folder).run(*words)
    figures = {"documents, MB": sum(path.stat().st_size for path in (folder / "docs").rglob("*.md")) / 1e6}

    def say(name, cost):
        figures[f"{name}, s"], figures[f"{name}, s of processors"] = cost.seconds, cost.processor
        figures[f"{name}, MiB of memory"] = cost.memory

    shards = [f"shard-{at}.parquet" for at in range(1, SHARDS + 1)]
    cut = Cost(program, folder)
    for at, shard in enumerate(shards, 1):
        cut.run("chunk", "docs", "--shard", f"{at}/{SHARDS}", "-o", shard)
    say("cut into shards", cut)
    say("shards proved and joined", cost("join", *shards, "-o", "rows.parquet"))
    figures["rows as Parquet, bytes a chunk"] = (folder / "rows.parquet").stat().st_size / chunks
    rows = pyarrow.parquet.ParquetFile(folder / "rows.parquet").metadata.num_rows
    if rows != chunks:
        sys.exit(f"{rows} rows of {chunks} chunks")
    for name in (*shards, "rows.parquet"):
        (folder / name).unlink()
    store = Embedded(program, folder, str(folder / "store"))
    say("indexed", cost("index", "docs", "--embedder", embedder, *store.flags))
    figures["store, bytes a chunk"] = store.size() / chunks
    say("indexed again, nothing changed", cost("index", "docs", "--embedder", embedder, *store.flags))
    texts = [line.split(".")[0].split() for line in random.Random(2).sample(lines, QUERIES)]
    texts = [" ".join(words[:9]) for words in texts]
    _, figures["server, s until it listens"] = timed(store.open)
    ask = lambda mode: sorted(timed(lambda: store.search(mode, text, None))[1] * 1000 for text in texts)
    _, figures["first search, ms"] = timed(lambda: store.search("lexical", texts[0], None))
    figures["first search, ms"] *= 1000
    for mode in ("lexical",) if embedder == "none" else ("lexical", "dense", "hybrid"):
        times = ask(mode)
        figures[f"{mode}, p50 ms"], figures[f"{mode}, p99 ms"] = times[QUERIES // 2], times[QUERIES * 99 // 100]
    figures["server, MiB of memory"] = status_of(store.server, "RssAnon")
    store.close()
    return figures


def main():
    program, folder, embedder, sizes = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3], [int(text) for text in sys.argv[4:]]
    figures = [measure(program, folder / "scale", embedder, chunks) for chunks in sizes]
    shutil.rmtree(folder / "scale")
    print("# Scale\n")
    print(f"Made by `eval/scale.py` on {os.cpu_count()} cores, embedder `{embedder}`.\n")
    print(f"| chunks | {' | '.join(f'{chunks:,}' for chunks in sizes)} | the last over the first |\n|---{'|--:' * (len(sizes) + 1)}|")
    for name, first in figures[0].items():
        values = [figure[name] for figure in figures]
        shown = " | ".join(f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" for value in values)
        print(f"| {name} | {shown} | {values[-1] / first:.2f} |")


if __name__ == "__main__":
    main()
