"""Retry a call to the Parcel Desk API the way its guide asks for.

Only `429`, `502` and `503` are tried again. The wait doubles from one second to one
minute, with a random part, unless the server names a time in `Retry-After`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

RETRYABLE = frozenset({429, 502, 503})
MAX_ATTEMPTS = 6
MAX_WAIT_S = 60.0


@dataclass(frozen=True)
class Answer:
    """What a request came back with."""

    status: int
    body: bytes
    retry_after_s: float | None = None

    @property
    def ok(self) -> bool:
        """Tell whether the status is a success."""
        return 200 <= self.status < 300


class GaveUp(Exception):
    """All attempts failed; a person has to look at the order."""

    def __init__(self, last: Answer, attempts: int) -> None:
        super().__init__(f"gave up after {attempts} attempts, the last answer was {last.status}")
        self.last = last


def wait_before(attempt: int, retry_after_s: float | None, jitter: float) -> float:
    """Seconds to wait before the given attempt, counted from 1; jitter is between 0 and 1."""
    if retry_after_s is not None:
        return retry_after_s
    base = min(MAX_WAIT_S, 2.0 ** (attempt - 1))
    return base * (1 + jitter / 2)


def send(
    call: Callable[[], Answer],
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> Answer:
    """Make the call until it succeeds or fails for good.

    The caller builds the request once, idempotency key included: a key made anew for each
    attempt would create a parcel for each attempt.
    """
    answer = call()
    for attempt in range(1, MAX_ATTEMPTS):
        if answer.status not in RETRYABLE:
            return answer
        sleep(wait_before(attempt, answer.retry_after_s, jitter()))
        answer = call()
    if answer.status in RETRYABLE:
        raise GaveUp(answer, MAX_ATTEMPTS)
    return answer
