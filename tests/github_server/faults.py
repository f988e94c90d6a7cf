"""Misbehaviour on demand: what a network, a broken server or another person does just then."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

HTML_502 = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
SECONDARY_LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@dataclass
class Fault:
    """What happens to the next ``times`` requests that match, see ``Hub.fault``; None: to all of them."""

    method: str
    path: re.Pattern[str]
    times: int | None
    status: int | None
    headers: Mapping[str, str]
    body: Any
    close: bool
    delay: float
    applied: bool


@dataclass
class Before:
    """A callback that runs just before a matching request is answered."""

    method: str
    path: re.Pattern[str]
    times: int | None
    callback: Callable[[], object]


@dataclass
class Faults:
    """The faults and callbacks that are set, the oldest first."""

    faults: list[Fault] = field(default_factory=list)
    callbacks: list[Before] = field(default_factory=list)

    def next_fault(self, method: str, path: str) -> Fault | None:
        """Return the fault of a request and count it off, None when none is set for it."""
        return next(_due(self.faults, method, path), None)

    def due_callbacks(self, method: str, path: str) -> list[Before]:
        """Return the callbacks of a request and count them off."""
        return list(_due(self.callbacks, method, path))


def _due(pending: list[Any], method: str, path: str) -> Any:
    for it in list(pending):
        if it.method not in (method, "*") or not it.path.search(path):
            continue
        if it.times is not None:
            it.times -= 1
            if it.times == 0:
                pending.remove(it)
        yield it
