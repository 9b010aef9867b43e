"""Tide tables for one small harbour: when the ramp can be used.

The height of the water is modelled as a sum of cosines, one for each tidal
constituent. Four are enough for a harbour plan; a chart needs sixty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

# Degrees an hour: how fast the phase of each constituent turns.
SPEEDS = {"M2": 28.9841042, "S2": 30.0, "N2": 28.4397295, "K1": 15.0410686}


@dataclass(frozen=True)
class Constituent:
    """One cosine of the tide: its height in metres and its phase in degrees."""

    name: str
    amplitude_m: float
    phase_deg: float

    def height_at(self, hours: float) -> float:
        """Contribution in metres, so many hours after the epoch."""
        angle = math.radians(SPEEDS[self.name] * hours - self.phase_deg)
        return self.amplitude_m * math.cos(angle)


class Harbour:
    """A harbour whose ramp works between two heights of water."""

    def __init__(self, epoch: datetime, mean_m: float, constituents: list[Constituent]) -> None:
        unknown = [c.name for c in constituents if c.name not in SPEEDS]
        if unknown:
            raise ValueError(f"unknown constituents {unknown}; known are {sorted(SPEEDS)}")
        self.epoch = epoch
        self.mean_m = mean_m
        self.constituents = constituents

    def height(self, moment: datetime) -> float:
        """Height of the water above chart datum, in metres."""
        hours = (moment - self.epoch).total_seconds() / 3600
        return self.mean_m + sum(c.height_at(hours) for c in self.constituents)

    def turns(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, float, str]]:
        """High and low waters between two moments, found to the minute.

        A turn is a minute that is higher, or lower, than both of its neighbours.
        """
        minute = timedelta(minutes=1)
        before, here = self.height(start - minute), self.height(start)
        moment = start
        while moment <= end:
            after = self.height(moment + minute)
            if before < here >= after:
                yield moment, here, "high"
            elif before > here <= after:
                yield moment, here, "low"
            before, here = here, after
            moment += minute

    def ramp_is_usable(self, moment: datetime, lowest_m: float, highest_m: float) -> bool:
        """Tell whether the ramp stays within its ten degrees."""
        return lowest_m <= self.height(moment) <= highest_m


def closed_hours(harbour: Harbour, day: datetime, lowest_m: float, highest_m: float) -> list[str]:
    """Hours of the day, as `HH:MM-HH:MM`, at which no car may use the ramp."""
    step = timedelta(minutes=10)
    closed: list[str] = []
    since: datetime | None = None
    for number in range(24 * 6 + 1):
        moment = day + number * step
        usable = number < 24 * 6 and harbour.ramp_is_usable(moment, lowest_m, highest_m)
        if not usable and since is None and number < 24 * 6:
            since = moment
        elif since is not None and (usable or number == 24 * 6):
            closed.append(f"{since:%H:%M}-{moment:%H:%M}")
            since = None
    return closed


if __name__ == "__main__":
    spring = Harbour(
        datetime(2024, 4, 9),
        mean_m=2.6,
        constituents=[
            Constituent("M2", 1.9, 142.0),
            Constituent("S2", 0.7, 168.0),
            Constituent("N2", 0.4, 120.0),
            Constituent("K1", 0.1, 20.0),
        ],
    )
    for when, metres, kind in spring.turns(datetime(2024, 4, 9), datetime(2024, 4, 10)):
        print(f"{when:%H:%M} {kind} water {metres:.2f} m")
    print("ramp closed:", ", ".join(closed_hours(spring, datetime(2024, 4, 9), 0.4, 4.9)) or "never")
