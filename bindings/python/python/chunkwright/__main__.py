"""The command `chunkwright`: `python -m chunkwright` is the same."""

import sys

from ._chunkwright import run


def main() -> int:
    """Run the command line, and return its exit status."""
    return run(["chunkwright", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
