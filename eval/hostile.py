#!/usr/bin/env python3
"""Peak memory and time of hostile files: python3 eval/hostile.py NAME=PROGRAM... > eval/hostile.md

Each file is made here, cut by `chunkwright chunk` in a process of its own, and given up after a minute. The peak is that
of the largest process, converters included."""
import os, random, re, subprocess, sys, tempfile, time, zlib
from pathlib import Path

HERE = Path(__file__).parent.parent
LIMIT = 60


def pdf(filters, content):
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
    stream = b"<</Length %d/Filter%s>>stream\n" % (len(content), filters) + content + b"\nendstream"
    out, offsets = b"%PDF-1.4\n", []
    for n, item in enumerate([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream]):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % (n + 1) + item + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % at for at in offsets)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(out)


def shuffled(sample, size):
    tokens = re.findall(r"\w+|[^\w\s]+|\s+", (HERE / "crates/chunkwright-code/tests/samples" / sample).read_text())
    source = random.Random(1)
    return "".join(source.choice(tokens) for _ in range(size // 3))[:size].encode()


def files():
    text = b"BT /F1 12 Tf 72 720 Td (hello) Tj ET "
    pack = lambda data: zlib.compress(data, 9)
    yield "flate.pdf", "one stream, 24 MB of operators", pdf(b"/FlateDecode", pack(text + b"q Q " * 6_000_000))
    yield "nested.pdf", "a stream packed twice, 90 MB", pdf(b"[/FlateDecode/FlateDecode]", pack(pack(text + b"q " * 45_000_000)))
    yield "imports.py", "14,000 imports, 3,000 functions", ("".join(f"import package.module{n}\n" for n in range(14_000)) + "".join(f"\ndef f{n}(a):\n    return module{n}.call(a)\n" for n in range(3_000))).encode()
    yield "if.php", "`<?php if(1): ?>` and a line break", b"<?php if(1): ?>\n" * 8_192
    mb = 1 << 20
    for name, part in [("a.cpp", "a<"), ("b.cpp", "f("), ("c.c", "f("), ("d.rs", "a!("), ("e.ex", "a+"), ("f.go", "f("), ("g.tf", "a{"), ("h.swift", "a?"), ("i.erl", "("), ("j.js", "a=>")]:
        yield name, f"`{part}` repeated", part.encode() * (mb // len(part))
    for name, part in [("p.c", "+:"), ("q.rs", ",&"), ("r.zig", "*;"), ("s.swift", ".,"), ("t.cs", ":*")]:
        yield name, f"`{part}` repeated", part.encode() * (mb // 16 // len(part))
    for name, sample in [("k.cpp", "sample.cpp"), ("l.swift", "sample.swift"), ("m.tf", "sample.tf"), ("n.rs", "sample.rs"), ("o.php", "sample.php")]:
        yield name, "tokens of the sample in any order", shuffled(sample, mb)


def measured(program, path):
    started = time.monotonic()
    # Started apart, so that the peak is that of this run alone.
    code = "import resource,subprocess,sys\ntry: c=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL,timeout=%d).returncode\nexcept subprocess.TimeoutExpired: c='stopped'\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, c)" % LIMIT
    out = subprocess.run([sys.executable, "-c", code, program, "chunk", path], capture_output=True, text=True).stdout.split()
    return int(out[0]) / 1024, time.monotonic() - started, out[1]


def main():
    programs = [argument.split("=", 1) for argument in sys.argv[1:]]
    print("# Hostile files\n\nMade by `eval/hostile.py`, which runs `chunkwright chunk FILE`: peak memory of the largest process in MB, seconds, and exit")
    print(f"status. A run is stopped after {LIMIT} s. *Before* is the program before such files were bounded. Times are those of one")
    print("machine; `crates/chunkwright-code/tests/it/bounds.rs` tests the bound on the memory of source code.\n")
    print("| file | what it is | KB |" + "".join(f" {name}: MB | s | status |" for name, _ in programs))
    print("|---|---|---:|" + "---:|---:|---|" * len(programs))
    with tempfile.TemporaryDirectory() as folder:
        for name, what, content in files():
            path = os.path.join(folder, name)
            Path(path).write_bytes(content)
            cells = [measured(program, path) for _, program in programs]
            print(f"| {name} | {what} | {len(content) / 1024:.1f} |" + "".join(f" {m:.0f} | {s:.1f} | {c} |" for m, s, c in cells), flush=True)


main()
