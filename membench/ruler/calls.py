"""Calls to the memory under test: what goes wrong in one is breakage, by name, and never a miss."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from membench.corpora.types import Query
from membench.errors import MembenchError, MemoryCallError
from membench.memories.protocol import Description, Hit, Memory, Receipt, Store
from membench.ruler.fragments import Fragment
from membench.ruler.latency import Latency

_REMEDY = "Mend the memory and run again: a figure without this call would be a figure of another corpus."
_STATUSES = ("stored", "duplicate", "refused")

Answer = TypeVar("Answer")


def describe(memory: Memory) -> Description:
    """Its identity. Raises MemoryCallError."""
    return _called("asking the memory to describe itself", memory.describe)


@contextmanager
def opened(memory: Memory, pool: str, about: str) -> Iterator[Store]:
    """A fresh store, closed at the end; what the body raises stays the error. Raises MemoryCallError.

    The memory is given the name ``pool``, an error says ``about``: a corpus's ids can tell the answer.
    """
    store = _called(f"opening a store for {about}", lambda: memory.open(pool))
    try:
        yield store
    except BaseException:
        with suppress(Exception):
            store.close()
        raise
    _called(f"closing the store for {about}", store.close)


def write(store: Store, part: Sequence[Fragment], latency: Latency) -> Sequence[Receipt]:
    """One receipt a fragment; ``latency`` is told how long it took.

    Raises MemoryCallError that names the units where there are not.
    """
    about = f"writing units {part[0].unit.id} to {part[-1].unit.id} ({part[0].session} to {part[-1].session})"
    units = [fragment.unit for fragment in part]
    begun = perf_counter()
    receipts: list[Any] = _called(about, lambda: list(store.write(units)))
    latency.add(perf_counter() - begun, len(part))
    if len(receipts) != len(part):
        raise MemoryCallError(f"{about}: expected {len(part)} receipts, found {len(receipts)}", _REMEDY)
    for fragment, receipt in zip(part, receipts, strict=True):
        if not isinstance(receipt, Receipt) or receipt.status not in _STATUSES:
            problem = f"{about}: expected a receipt for {fragment.unit.id} that says one of {', '.join(_STATUSES)}"
            raise MemoryCallError(f"{problem}, found {receipt!r:.80}", _REMEDY)
    return receipts


def search(store: Store, query: Query, limit: int, as_of: datetime | None, latency: Latency) -> Sequence[Hit]:
    """The hits of ``query``; ``latency`` is told how long it took. Raises MemoryCallError that names the query."""
    about = f"searching for query {query.id} ({query.text[:60]!r})"
    begun = perf_counter()
    hits = _called(about, lambda: list(store.search(query.text, limit, as_of)))
    latency.add(perf_counter() - begun, 1)
    for hit in hits:
        if fault := _fault(hit):
            raise MemoryCallError(f"{about}: {fault}", _REMEDY)
    # A NumPy scalar is a number that JSON does not know.
    return [hit if type(hit.score) is float else replace(hit, score=float(hit.score)) for hit in hits]


def _fault(hit: Any) -> str | None:
    if not isinstance(hit, Hit) or not isinstance(hit.score, int | float | np.floating):
        return f"expected hits with a score, found {hit!r:.80}"
    if not math.isfinite(hit.score):
        return f"a hit has the score {hit.score}, expected a finite number"
    if hit.unit is None and hit.text is None:
        return "a hit has neither a unit id nor a text"
    return None


def _called(about: str, call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except MemoryCallError as error:
        # A bridge knows the call, and not what it was for.
        raise MemoryCallError(f"{about}: {error.what}", error.remedy) from error
    except MembenchError:
        raise
    except Exception as error:
        raise MemoryCallError(f"{about}: {type(error).__name__}: {error}", _REMEDY) from error
