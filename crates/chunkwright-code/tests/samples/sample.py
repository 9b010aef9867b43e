#!/usr/bin/env python
"""Reads readings of sensors, keeps the last ones, and says when one is out of bounds."""
# Kept free of dependencies, so that it can be copied to a board.

# Standard library.
import json

import sys  # for the exit code
from collections.abc import (
    Iterable,
    Iterator,
)
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 40
NAMES = {
    "inlet": "Вход",
    # Filled in by the installer.
    "outlet": "出口",
    "room": "Zimmer 🌡",
}; MISSING = object()

# The units below are those of the data sheet.

try:
    import numpy
except ImportError:
    # Good enough for a board.
    def mean(values):
        return sum(values) / len(values)

    numpy = None


# One reading. Compared by time.
@total_ordering
@dataclass(
    frozen=True)
# The order of fields is the order in the file.
class Reading(Base):  # noqa: D101
    """A value with its time.

    class NotAClass: the docstring's own words.
    """
    # Seconds since the epoch.
    time: int = 0

    value: float = 0.0

    # Short names are for the display.
    @property
    def label(self):
        # Names come first.
        name = NAMES.get(self.name)

        # Then units.
        if name is None:
            name = "?"
            unit = ""
        elif self.value > LIMIT:
            name += "!"
        else:
            for unit in units():
                if unit:
                    break
        return [
            name,
            f"{self.value:.1f} {unit}",
        ]

    if sys.version_info >= (3, 12):
        @overload
        def scaled(self, by: int) -> "Reading": ...
        factor = 1

    class Meta:
        ordering = ["time"]

    async def send(self, to,
                   *, retries=3):
        def attempt():
            return to.put(self)

        async with to as connection:
            for _ in range(retries):
                attempt()
    # Not sent twice.


def read(lines: Iterable[str]) -> Iterator[Reading]:
    """Yields readings; skips what is none."""
    for line in lines:
        try:
            yield Reading(**json.loads(line))
        except ValueError:
            continue
        finally:
            pass

def size(path): return path.stat().st_size  # bytes
main = lambda: list(read(sys.stdin))
if __name__ == "__main__":
    main()
# vim: set ts=4:
