#!/usr/bin/env python3
"""How fast everything is, beside others: python eval/speed.py PROGRAM FOLDER > eval/speed.md

PROGRAM is `chunkwright` with the models `e5` and `minilm`. FOLDER has Markdown in `en`, `zh` and `ru`, and Python and Rust anywhere. Runs
the benches of `chunkwright-benches`, whose ratios are taken turn by turn, `embedders.py` and `python.py` with the packages that they
name, and measures the peak memory of the program `chunk`."""
import os, re, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A row of `compare`: what it is here.
PEERS = {
    "Markdown {}, 1800 characters": "text-splitter, 1,800 characters",
    "Markdown {}, 512 o200k tokens": "text-splitter with tiktoken-rs, 512 o200k tokens",
    "Markdown {}, characters, over pulldown-cmark alone": "pulldown-cmark alone, by characters",
    "Markdown {}, tokens, over bpe-openai once": "bpe-openai counting once, by tokens",
}
CODE = {
    "{}, 1800 characters": "text-splitter, 1,800 characters",
    "{}, 512 o200k tokens": "text-splitter with tiktoken-rs, 512 o200k tokens",
    "{}, characters, over tree-sitter alone": "tree-sitter alone, by characters",
}


#: Numbers of chunks that are searched.
SIZES = [10_000, 100_000, 1_000_000]
#: What the bench `search` prints of each.
SEARCHED = [
    "written, chunks a second (with vectors)", "opened and first answer, ms", "dense p50 / p99, ms", "lexical p50 / p99, ms",
    "hybrid p50 / p99, ms", "disk, bytes a chunk",
]


def bench(name, *arguments, **variables):
    """What a bench prints."""
    command = ["cargo", "bench", "-p", "chunkwright-benches", "--bench", name, "--", *arguments]
    found = subprocess.run(command, cwd=ROOT, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True)
    return found.stdout


def ratios(printed):
    """The last column of each row that ends with a ratio, by the name of the row."""
    rows = re.findall(r"^(\S.*?)  +[\d.]+ +.*?([\d.]+)x$", printed, re.M)
    return {name: float(ratio) for name, ratio in rows}


def table(title, columns, rows):
    print(f"| {title} | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")
    print()


def memory(program, text, unit):
    """Peak memory of cutting one document, in MB."""
    # By a process of its own: what starts a process counts as memory of that.
    measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=-3, check=True);"
    measure += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.md").write_bytes(text)
        command = [sys.executable, "-c", measure, program, "chunk", "a.md", "--unit", unit, "--format", "jsonl", "-q"]
        found = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
        return int(found.stdout) * 1024 / 1e6


def main(program, folder):
    program, folder = str(Path(program).resolve()), Path(folder).resolve()
    compared = bench("compare", CHUNKWRIGHT_BENCH_DIR=str(folder))
    process = bench("process", CHUNKWRIGHT_BENCH_DIR=str(folder / "en"), CHUNKWRIGHT_PROGRAM=program)
    searched = bench("search", *map(str, SIZES))
    found = ratios(compared)
    print("# Speed\n\nMade by `eval/speed.py`, on files of", folder_of(folder) + ".")
    print("Every figure is a median of turns on one thread; *over* is the ratio of both sides in one run: above 1, ours is faster.\n")
    print("```mermaid\nxychart-beta horizontal\n    title \"Times as fast as text-splitter, 1,800 characters\"")
    names = ["Markdown en", "Markdown zh", "Markdown ru", "Python", "Rust"]
    bars = [found[f"{name}, 1800 characters"] for name in names]
    print(f"    x-axis [{', '.join(names)}]\n    y-axis 0 --> {max(2, *bars):.1f}\n    bar {bars}\n```\n")
    languages = ["en", "zh", "ru"]
    table("Markdown, over", languages, [
        (name, [f"{found[row.format(language)]:.2f}x" for language in languages]) for row, name in PEERS.items()
    ])
    table("Code, over", ["Python", "Rust"], [
        (name, [f"{found[row.format(language)]:.2f}x" for language in ["Python", "Rust"]]) for row, name in CODE.items()
    ])
    beside = [f"{found[row]:.2f}x" for row in ("one Markdown document of 3 MB, characters", "two threads over one, many files")]
    print(f"One document of 3 MB: {beside[0]} as fast as text-splitter. Two threads over one: {beside[1]}.\n")
    print("## The program\n\n```text\n" + process.strip() + "\n```\n")
    english = b"".join(path.read_bytes() + b"\n\n" for path in sorted(folder.glob("en/**/*.md")))
    rows = []
    for megabytes in [10, 100]:
        text = (english * (megabytes * 10**6 // len(english) + 1))[: megabytes * 10**6]
        text = text.decode(errors="ignore").encode()
        rows.append((f"{megabytes} MB", [f"{memory(program, text, unit):,.0f}" for unit in ["chars", "tokens"]]))
    table("Peak memory of `chunk`, one Markdown document, MB", ["characters", "o200k tokens"], rows)
    for script in ["python.py", "embedders.py"]:
        sys.stdout.flush()
        subprocess.run([sys.executable, Path(__file__).with_name(script), program, folder], check=True)
    print("## The embedded store\n")
    cells = lambda row: re.findall(rf"^ +{re.escape(row)} +(\S.*)$", re.sub("(?m) +p50 /", " p50 /", searched), re.M)
    table("Chunks", [f"{size:,}" for size in SIZES], [(row, cells(row)) for row in SEARCHED])


def folder_of(folder):
    """How much of what a folder has."""
    sizes = [(kind, sum(p.stat().st_size for p in folder.rglob(f"*.{end}"))) for kind, end in
             [("Markdown", "md"), ("Python", "py"), ("Rust", "rs")]]
    return ", ".join(f"{size / 1e6:.1f} MB of {kind}" for kind, size in sizes)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
