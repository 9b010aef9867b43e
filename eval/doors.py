#!/usr/bin/env python3
"""What hostile and large requests cost: python3 eval/doors.py NAME=PROGRAM... > eval/doors.md

Each request is made of a server or a command of its own. Time is that until the answer, or the processor time where the
table says CPU; memory is the highest resident set, in MB."""
import http.client, json, os, random, re, subprocess, sys, tempfile, threading, time
from pathlib import Path

HERE = Path(__file__).parent.parent
LIMIT = 30
TICK = os.sysconf("SC_CLK_TCK")
WORDS = [f"{a}{b}{c}" for a in ("har", "lan", "fer", "mo") for b in ("bo", "ta", "ri", "le", "su") for c in ("ur", "ern", "ck", "ng", "s", "th")]


def prose(size, seed=1, width=12):
    """Paragraphs under headings, about `size` bytes."""
    source, parts, length = random.Random(seed), [], 0
    while length < size:
        parts.append(f"## Part {len(parts):05}\n\n" + " ".join(" ".join(source.choice(WORDS) for _ in range(width)).capitalize() + "." for _ in range(6)) + "\n\n")
        length += len(parts[-1])
    return "".join(parts)


class Server:
    """The program as a server over an empty store, which may be made first by a command."""

    def __init__(self, program, folder, *index):
        self.env = {**os.environ, "CHUNKWRIGHT_STORE": f"{folder}/store", "CHUNKWRIGHT_EMBEDDER": "none"}
        if index:
            subprocess.run([program, "index", *index, "-q"], env=self.env, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0"], env=self.env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, limit=LIMIT):
        """Status and length of the answer; status 0 where none came in time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit)
        try:
            connection.request(method, path, body and json.dumps(body), {"content-type": "application/json"} if body else {})
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, data
        except TimeoutError:
            return 0, b""
        finally:
            connection.close()

    def put(self, collection, documents):
        status, data = self.ask("POST", f"/api/v1/collections/{collection}/documents", {"documents": [{"doc_id": name, "text": text} for name, text in documents]})
        assert status in (200, 201), data[:300]

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def peak(self):
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def timed(self, *request, **options):
        started = time.monotonic()
        status, data = self.ask(*request, **options)
        return f"{status or 'no answer'} after {time.monotonic() - started:.2f} s, {len(data) / 1e6:.1f} MB"


def command(program, *arguments, env=None):
    """CPU time of a command, stopped after a while; in words and in seconds."""
    process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = status
    cpu = usage.ru_utime + usage.ru_stime
    return f"no end after {LIMIT} s" if os.WIFSIGNALED(status) else f"{cpu:.2f} s CPU" if status == 0 else f"exit {status >> 8}", cpu


def evaluations(program, folder):
    Path(folder, "manual.md").write_text(prose(3_000_000))
    Path(folder, "q.jsonl").write_text("".join(json.dumps({"question": f"what is part {n}", "doc_id": "manual.md", "excerpt": f"## Part {n:05}"}) + "\n" for n in range(60)))
    for threads in "1", "2":
        said, _ = command(program, "eval", f"{folder}/q.jsonl", f"{folder}/manual.md", "--embedder", "static", "--max-size", "32", "-j", threads)
        yield f"`eval --embedder static --max-size 32 -j {threads}`, a manual of 3 MB", said


def queries(program, folder):
    with Server(program, folder) as server:
        server.put("notes", [(f"{n}.md", prose(300, n)) for n in range(3)])
        for terms in 50_000, 100_000:
            yield f"search of {terms:,} terms, three documents", server.timed("POST", "/api/v1/search", {"query": " ".join(f"{word}{n}" for n, word in zip(range(terms), WORDS * terms)), "collections": ["notes"]})
    with Server(program, folder) as server:
        server.put("many", [(f"{n}.md", prose(4_000, n)) for n in range(300)])
        for n in range(300):
            server.ask("POST", "/api/v1/collections/many/questions", {"question": " ".join(WORDS[n % 90 :] * 20), "expected": [f"{n}.md"]})
        asked = [threading.Thread(target=server.ask, args=("POST", "/api/v1/collections/many/questions/evaluate", {"k": 10}), kwargs={"limit": 1}) for _ in range(4)]
        [thread.start() for thread in asked]
        [thread.join() for thread in asked]
        before = server.cpu()
        time.sleep(5)
        yield "CPU of the five seconds after four `questions/evaluate` whose clients left", f"{server.cpu() - before:.2f} s"


def answers(program, folder):
    with Server(program, folder) as server:
        yield "`preview` of 2 MB at `max_size` 8", server.timed("POST", "/api/v1/preview", {"text": prose(2_000_000), "doc_id": "a.md", "settings": {"max_size": 8}}) + f", {server.peak():.0f} MB"
    for size, most in (2, 8), (48, 128):
        Path(folder, "large.md").write_text(prose(size * 1_000_000))
        with Server(program, folder, "large.md", "-c", "large", "--max-size=256") as server:
            settings = {"settings": {"max_size": most}}
            started = time.monotonic()
            status, data = server.ask("POST", "/api/v1/collections/large/diff", settings)
            said = f"{status or 'no answer'} after {time.monotonic() - started:.1f} s, {len(data) / 1e6:.1f} MB"
            if status == 413:
                _, data = server.ask("POST", "/api/v1/jobs", {"kind": "diff", "collection": "large", "request": settings})
                job = json.loads(data)["id"]
                while json.loads(server.ask("GET", f"/api/v1/jobs/{job}")[1])["state"] in ("queued", "running"):
                    time.sleep(0.1)
                _, data = server.ask("GET", f"/api/v1/jobs/{job}/result")
                said = f"413, then a job: {time.monotonic() - started:.1f} s, {len(data) / 1e6:.1f} MB"
            yield f"`diff` of a document of {size} MB with `max_size` {most}", f"{said}, {server.peak():.0f} MB"


def collections(program, folder):
    with Server(program, folder) as server:
        spent = []
        for number in range(2_000):
            before = server.cpu()
            server.put(f"team-{number:04}", [(f"{n}.md", prose(500, n)) for n in range(3)])
            spent.append(server.cpu() - before)
        mean = lambda to: sum(spent[to - 50 : to]) / 50
        yield "CPU of making a collection, the 100th, 1,000th and 2,000th", ", ".join(f"{1000 * mean(to):.0f}" for to in (100, 1_000, 2_000)) + " ms"
    with Server(program, folder) as server:
        for name, path in ("the first `/metrics` after a start", "/metrics"), ("a page of 100 collections", "/api/v1/collections"), ("`/ready`", "/ready"):
            yield f"{name}, 2,000 collections", server.timed("GET", path)
        for name in "first", "second":
            yield f"the {name} search of all 2,000", server.timed("POST", "/api/v1/search", {"query": "harbour lantern", "all_collections": True})
        yield "the peak of that server", f"{server.peak():.0f} MB"


def lines(program, folder):
    source = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    base = None
    words = " ".join(path.read_text() for path in [HERE / "README.md", *sorted((HERE / "docs").glob("*.md"))[:6]])
    words = [word for word in re.sub("[#`|<>-]", "", words).split() if "/" not in word]
    many = lambda number: [source.choice(words) for _ in range(number)]
    made = {
        "prose": "\n\n".join(" ".join(many(80)) for _ in range(2_500)),
        "one line of words": " ".join(many(200_000)),
        "words without a blank": "".join(many(250_000)),
        "base64": "".join(source.choice(letters + letters.upper() + "0123456789+/") for _ in range(1_000_000)),
        "random small letters": "".join(source.choice(letters) for _ in range(1_000_000)),
        "one letter": "a" * 1_000_000,
    }
    for levels in 6, 30, 100, 300:
        items, length = [], 0
        while length < 1_000_000:
            items.append("  " * (len(items) % levels) + "- " + " ".join(many(3)) + "\n")
            length += len(items[-1])
        made[f"a list of {levels} levels"] = "".join(items)
    for name, text in made.items():
        path = Path(folder, "a.md")
        path.write_text(text[:1_000_000])
        cpu = sorted(command(program, "chunk", "-j", "1", str(path))[1] for _ in range(5))[2]
        base = base or cpu
        yield f"`chunk -j 1` of 1 MB: {name}", f"{cpu:.2f} s CPU" + (f", {cpu / base:.1f} times prose" if cpu != base else "")


def main():
    programs = [argument.split("=", 1) for argument in sys.argv[1:]]
    table = {}
    for measure in evaluations, queries, answers, collections, lines:
        for _, program in programs:
            with tempfile.TemporaryDirectory() as folder:
                for request, said in measure(os.path.abspath(program), folder):
                    table.setdefault(request, []).append(said)
                    print(f"{request}: {said}", file=sys.stderr)
    print("# What hostile and large requests cost\n")
    print("Made by `eval/doors.py`. MB is the length of the answer; a second figure is the peak resident set. Both programs are")
    print("release builds that ran one after the other on two shared processors, so read times as ratios. *Before* is the program")
    print("before queries, answers, collections and long lines were bounded.\n")
    print("| request | " + " | ".join(name for name, _ in programs) + " |")
    print("|---" * (1 + len(programs)) + "|")
    for request, said in table.items():
        print(f"| {request} | " + " | ".join(said) + " |")
    print("\nLong lines of words and lists of any depth take at most three times as long as prose. Text without a single blank takes")
    print("longer: it is counted several times, as a block, in pieces and as chunks, and none of its words is cached.")


main()
