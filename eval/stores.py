#!/usr/bin/env python3
"""Stores with the same chunks: python eval/stores.py PROGRAM CHUNKS POSTGRES [embedded postgres lancedb langchain]

POSTGRES is the Python of the tests' servers, `target/servers/bin/python`; this one needs langchain-postgres, lancedb, numpy, psycopg and
pyarrow. Documents are made of the words of `examples/corpus`, embedded by the model `static`. LanceDB and LangChain's PGVectorStore run in
this process and are given vectors of queries; the others answer over HTTP from texts, one query after another."""
import itertools, json, os, random, re, shutil, statistics, subprocess, sys, tempfile, time, urllib.request
from pathlib import Path

import lancedb, numpy, psycopg, pyarrow.parquet
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
from langchain_postgres.v2.indexes import DistanceStrategy, HNSWIndex, HNSWQueryOptions
from lancedb.index import FTS, HnswSq
from lancedb.rerankers import RRFReranker

HERE = Path(__file__).parent.parent
SECTIONS = 20
QUERIES = 200
HITS = 10


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def drawn_words():
    """A function that returns so many words, drawn as a language draws them."""
    source = random.Random(1)
    text = " ".join(path.read_text() for path in sorted((HERE / "examples/corpus/en").glob("*.md")))
    words = sorted(set(re.findall(r"[a-z]{3,}", text)))
    source.shuffle(words)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    return lambda number: " ".join(source.choices(words, cum_weights=weights, k=number))


def write(folder, chunks):
    """Documents of so many sections in all."""
    draw = drawn_words()
    folder.mkdir()
    for document in range(chunks // SECTIONS):
        line = lambda length: draw(length).capitalize()
        parts = [f"## {line(3)} {document}-{at}\n\n{line(28)}.\n{line(28)}.\n" for at in range(SECTIONS)]
        (folder / f"d{document:06}.md").write_text(f"# Document {document}\n\n" + "\n".join(parts))


def edit(folder):
    """Changes a line of one document in a hundred; their names."""
    names = sorted(path.name for path in folder.iterdir())[::100]
    for name in names:
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(".\n", " and one more.\n", 1))
    return names


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Served:
    """A store of the program: `index`, `import` and a server that only reads."""

    def __init__(self, program, folder, store):
        self.program, self.folder, self.store = program, folder, store
        self.flags = ["--store", store, "-c", "docs"]

    def run(self, *words):
        subprocess.run([self.program, *words, *self.flags, "-q"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def build(self, rows):
        self.run("import", str(rows))

    def open(self):
        command = [self.program, "serve", "--read-only", "--listen", "127.0.0.1:0", *self.flags]
        self.server = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.url = next(found[0] for line in self.server.stderr if (found := re.search(r"http://[\d.:]+", line)))

    def close(self):
        self.server.kill()
        self.server.wait()

    def hits(self, mode, text, number):
        body = {"query": text, "mode": mode, "top_k": number, "collections": ["docs"], "duplicates": "keep", "min_relevance": 0, "names": "off"}
        request = urllib.request.Request(f"{self.url}/api/v1/search", json.dumps(body).encode(), {"content-type": "application/json"})
        return json.load(urllib.request.urlopen(request))["hits"]

    def search(self, mode, text, vector):
        return [hit["chunk_id"] for hit in self.hits(mode, text, HITS)]

    def vector(self, text, vectors, places):
        """That of a query, which more scores than it has numbers tell: each is its product with the vector of a chunk."""
        hits = self.hits("dense", text, 2 * vectors.shape[1])
        rows = vectors[[places[hit["chunk_id"]] for hit in hits]]
        return numpy.linalg.lstsq(rows, numpy.array([hit["dense"]["score"] for hit in hits]), rcond=None)[0].astype(numpy.float32)

    def replace(self, names):
        self.run("index", "docs", "--embedder", "static")

    def ids(self, names):
        export = subprocess.run([self.program, "export", "-o", "-", *self.flags, "-q"], cwd=self.folder, check=True, stdout=subprocess.PIPE)
        rows = map(json.loads, export.stdout.splitlines())
        return {row["chunk_id"] for row in rows if row.get("doc_id") in names}


class Embedded(Served):
    def size(self):
        return size(Path(self.store))


class Postgres(Served):
    def __init__(self, program, folder, url):
        super().__init__(program, folder, url)
        self.connection = psycopg.connect(url.replace("postgres://", "postgresql://"), autocommit=True)
        self.before = database_size(self.connection)

    def size(self):
        return database_size(self.connection) - self.before


def database_size(connection):
    return connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]


def cut_again(program, folder, names):
    """The rows of changed documents, for stores that do not cut."""
    changed = folder / "changed"
    if not changed.exists():
        changed.mkdir()
        for name in names:
            shutil.copy(folder / "docs" / name, changed)
    beside = Embedded(program, folder, "beside")
    beside.run("index", "changed", "--embedder", "static")
    beside.run("export", "-o", "changed.parquet", "--vectors", "--force")
    shutil.rmtree(folder / "beside")
    return table_of(folder / "changed.parquet")


class Lance:
    """LanceDB with an index of words and one of vectors by HNSW, as its guide makes them."""

    def __init__(self, program, folder):
        self.program, self.folder, self.at = program, folder, folder / "lance"
        self.database = lancedb.connect(self.at)

    def build(self, rows):
        self.table = self.database.create_table("docs", table_of(rows))
        self.table.create_index("vector", config=HnswSq(distance_type="dot"))
        self.table.create_index("text", config=FTS())

    def open(self):
        self.reranker = RRFReranker()

    def close(self):
        pass

    def size(self):
        return size(self.at)

    def search(self, mode, text, vector):
        if mode == "dense":
            query = self.table.search(vector).distance_type("dot").refine_factor(4)
        elif mode == "lexical":
            query = self.table.search(text, query_type="fts")
        else:
            query = self.table.search(query_type="hybrid").vector(vector).text(text).rerank(self.reranker)
        return query.select(["chunk_id"]).limit(HITS).to_arrow()["chunk_id"].to_pylist()

    def replace(self, names):
        changed = cut_again(self.program, self.folder, names)
        quoted = ", ".join(f"'{name}'" for name in names)
        self.table.delete(f"doc_id IN ({quoted})")
        self.table.add(changed)
        self.table.optimize()

    def ids(self, names):
        quoted = ", ".join(f"'{name}'" for name in names)
        found = self.table.search().where(f"doc_id IN ({quoted})").select(["chunk_id"]).limit(10**6)
        return set(found.to_arrow()["chunk_id"].to_pylist())


class Known(Embeddings):
    """The vectors of texts that were embedded before."""

    def __init__(self):
        self.vectors = {}

    def embed_query(self, text):
        return self.vectors[text].tolist()

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


class LangChain:
    """LangChain's PGVectorStore on the same server, with its indexes of vectors and words, which look as far as those of the program."""

    def __init__(self, program, folder, url):
        self.program, self.folder, self.known = program, folder, Known()
        url = url.replace("postgres://", "postgresql://")
        self.engine = PGEngine.from_connection_string(url.replace("postgresql://", "postgresql+psycopg://"))
        self.connection = psycopg.connect(url, autocommit=True)
        self.before = database_size(self.connection)

    def add(self, table):
        for batch in table.to_batches(1_000):
            rows = batch.to_pydict()
            metadata = [{"doc_id": name, "chunk_id": id} for name, id in zip(rows["doc_id"], rows["chunk_id"])]
            self.store.add_embeddings(rows["text"], rows["vector"], metadata)

    def build(self, rows):
        table = table_of(rows)
        words = HybridSearchConfig(tsv_column="words", fusion_function=reciprocal_rank_fusion, primary_top_k=100, secondary_top_k=100)
        size = table.schema.field("vector").type.list_size
        columns = [{"name": name, "data_type": "TEXT", "nullable": False} for name in ("doc_id", "chunk_id")]
        self.engine.init_vectorstore_table("langchain", size, metadata_columns=columns, hybrid_search_config=words)
        self.store = PGVectorStore.create_sync(
            self.engine, self.known, "langchain", metadata_columns=["doc_id", "chunk_id"], distance_strategy=DistanceStrategy.INNER_PRODUCT,
            hybrid_search_config=words, index_query_options=HNSWQueryOptions(ef_search=400))
        self.add(table)
        self.store.apply_vector_index(HNSWIndex(distance_strategy=DistanceStrategy.INNER_PRODUCT))
        self.store.apply_hybrid_search_index()

    def open(self):
        pass

    def close(self):
        pass

    def size(self):
        return database_size(self.connection) - self.before

    def search(self, mode, text, vector):
        if mode == "lexical":
            return None
        if mode == "dense":
            found = self.store.similarity_search_by_vector(vector.tolist(), k=HITS, hybrid_search_config=None)
        else:
            self.known.vectors[text] = vector
            found = self.store.similarity_search(text, k=HITS)
        return [document.metadata["chunk_id"] for document in found]

    def replace(self, names):
        changed = cut_again(self.program, self.folder, names)
        self.store.delete(filter={"doc_id": {"$in": names}})
        self.add(changed)

    def ids(self, names):
        rows = self.connection.execute("SELECT chunk_id FROM langchain WHERE doc_id = ANY(%s)", [list(names)])
        return {row[0] for row in rows}


def table_of(rows):
    """The columns that a search needs, with vectors of one length."""
    table = pyarrow.parquet.read_table(rows, columns=["chunk_id", "doc_id", "text", "vector"])
    numbers = table["vector"].combine_chunks().flatten().cast(pyarrow.float32())
    fixed = pyarrow.FixedSizeListArray.from_arrays(numbers, len(numbers) // len(table))
    return table.set_column(3, "vector", fixed)


def main():
    program, chunks, python = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    names = sys.argv[4:] or ["embedded", "postgres", "lancedb", "langchain"]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "docs", chunks)
        source = Embedded(program, folder, str(folder / "source"))
        source.run("index", "docs", "--embedder", "static")
        rows = folder / "rows.parquet"
        source.run("export", "-o", str(rows), "--vectors")
        table = table_of(rows)
        vectors = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(table), -1)
        ids = table["chunk_id"].to_pylist()
        places = {chunk_id: at for at, chunk_id in enumerate(ids)}
        source.open()
        texts = random.Random(2).sample([" ".join(text.split()[-9:]) for text in table["text"].to_pylist()], QUERIES)
        asked = [(text, source.vector(text, vectors, places)) for text in texts]
        source.close()
        shutil.rmtree(folder / "source")
        best = [set(numpy.argsort(-(vectors @ vector), kind="stable")[:HITS].tolist()) for _, vector in asked]
        server = subprocess.Popen([python, HERE / "tests/servers/postgres.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().strip().split("=", 1)[1]
        # The server for tests does not wait for its disk, and has the least memory.
        with psycopg.connect(url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
            for setting in ("fsync = on", "full_page_writes = on", "maintenance_work_mem = '2GB'", "shared_buffers = '4GB'"):
                connection.execute(f"ALTER SYSTEM SET {setting}")
        server.stdin.write("restart\n")
        server.stdin.flush()
        server.stdout.readline()
        makers = {
            "embedded": lambda: Embedded(program, folder, str(folder / "store")),
            "postgres": lambda: Postgres(program, folder, url),
            "lancedb": lambda: Lance(program, folder),
            "langchain": lambda: LangChain(program, folder, url),
        }
        stores = []
        figures = {}

        def say(row, *values):
            figures.setdefault(row, []).extend(values)

        for name in names:
            store = makers[name]()
            stores.append(store)
            _, seconds = timed(lambda: store.build(rows))
            say("built from rows with vectors, s", f"{seconds:.1f}")
            say("on disk, bytes a chunk", f"{store.size() / len(ids):,.0f}")
            store.open()
            found = [store.search("dense", text, vector) for text, vector in asked]
            hits = [len({ids[at] for at in best} & set(found)) / HITS for best, found in zip(best, found)]
            say("recall of the best 10 by vectors", f"{statistics.mean(hits):.3f}")
            for mode in ("lexical", "dense", "hybrid"):
                found = [timed(lambda: store.search(mode, text, vector)) for text, vector in asked]
                times = sorted(seconds * 1000 for _, seconds in found)
                can = found[0][0] is not None
                say(f"{mode}, p50 and p99, ms", f"{times[QUERIES // 2]:.1f}, {times[QUERIES * 99 // 100]:.1f}" if can else "")
            store.close()
        edited = edit(folder / "docs")
        kept = []
        for store in stores:
            _, seconds = timed(lambda: store.replace(edited))
            say("one document in 100 replaced, s", f"{seconds:.1f}")
            kept.append(store.ids(set(edited)))
        say("chunks of those, stale or missing", *(len(own ^ kept[0]) for own in kept))
        server.stdin.close()
        server.wait()
    print("# Stores\n")
    print(f"Made by `eval/stores.py`: {len(ids):,} chunks of {chunks // SECTIONS:,} documents in the same run, {vectors.shape[1]} numbers a vector, {os.cpu_count()} cores.\n")
    print(f"| | {' | '.join(names)} |\n|---{'|--:' * len(names)}|")
    for row, values in figures.items():
        print(f"| {row} | {' | '.join(map(str, values))} |")


if __name__ == "__main__":
    main()
