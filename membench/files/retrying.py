"""When a download is tried again, and how long it waits before."""

import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class RetryPolicy:
    """How persistent a download is. ``attempts`` counts those in a row that bring no new byte; times are in seconds.

    A connection that gives nothing for ``read_timeout`` has stalled.
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0

    def pause(self, fruitless: int) -> float:
        """Return the wait after ``fruitless`` attempts in a row: doubled each time, with jitter, bounded."""
        bound = min(self.longest_wait, self.first_wait * 2.0 ** max(fruitless - 1, 0))
        return bound * random.uniform(0.5, 1)


DEFAULT_POLICY = RetryPolicy()


class TransientError(Exception):
    """An attempt failed in a way that the next may not; ``retry_after`` is the wait in seconds that the server asks."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


def retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for (a number, or an HTTP date), None without a usable one."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
