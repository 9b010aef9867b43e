"""The servers of the remote stores, for as long as their parent is there.

Prints three lines as soon as all answer, `CHUNKWRIGHT_QDRANT_URL=qdrant://..`, `CHUNKWRIGHT_POSTGRES_URL=postgres://..` and
`CHUNKWRIGHT_CHROMA_URL=chroma://..`, and ends when its standard input does: that is the case however the parent ends.

    python stores.py

Qdrant is `qdrant_shim.py`, which is not the server; PostgreSQL and Chroma are the servers themselves.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import postgres

HOST = "127.0.0.1"


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def memory():
    """A folder in memory if it has room, which containers seldom give: no test asks whether Chroma survives a loss of power."""
    folder = pathlib.Path("/dev/shm")
    return folder if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 2 << 30 else None


def wait_for(server, url):
    """Until `url` answers; it fails if the server ends before."""
    while server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    sys.exit(f"{server.args[0]} ended with {server.returncode}")


def main():
    here = pathlib.Path(__file__).parent
    programs = pathlib.Path(sys.executable).parent
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet["env"] = os.environ | {"ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1"}
    with tempfile.TemporaryDirectory(dir=memory()) as folder, postgres.server(memory()) as database:
        port = free_port()
        command = [programs / "chroma", "run", "--path", folder, "--host", HOST, "--port", str(port)]
        chroma = subprocess.Popen(command, stdout=subprocess.DEVNULL, **quiet)
        shim = [sys.executable, str(here / "qdrant_shim.py")]
        qdrant = subprocess.Popen(shim, stdout=subprocess.PIPE, text=True, **quiet)
        try:
            print(f"CHUNKWRIGHT_QDRANT_URL=qdrant://{HOST}:{int(qdrant.stdout.readline())}")
            print(postgres.address(database))
            wait_for(chroma, f"http://{HOST}:{port}/api/v2/heartbeat")
            print(f"CHUNKWRIGHT_CHROMA_URL=chroma://{HOST}:{port}", flush=True)
            sys.stdin.read()
        finally:
            for server in (qdrant, chroma):
                server.kill()
                server.wait()


if __name__ == "__main__":
    main()
