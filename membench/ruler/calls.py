"""Calls to the memory under test: what goes wrong in one is breakage, by name, and never a miss."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from membench.corpora.types import Query
from membench.errors import MembenchError, MemoryCallError
from membench.memories.protocol import Hit, Memory, Receipt, Store
from membench.ruler.fragments import Fragment

_REMEDY = "Mend the memory and run again: a figure without this call would be a figure of another corpus."

Answer = TypeVar("Answer")


def open_store(memory: Memory, pool: str) -> Store:
    """A fresh store. Raises MemoryCallError."""
    return _called(f"opening a store for {pool}", lambda: memory.open(pool))


def write(store: Store, part: Sequence[Fragment]) -> Sequence[Receipt]:
    """One receipt a fragment. Raises MemoryCallError that names the units where there are not."""
    about = f"writing units {part[0].unit.id} to {part[-1].unit.id} ({part[0].session} to {part[-1].session})"
    receipts = _called(about, lambda: store.write([fragment.unit for fragment in part]))
    if len(receipts) != len(part):
        raise MemoryCallError(f"{about}: expected {len(part)} receipts, found {len(receipts)}", _REMEDY)
    return receipts


def search(store: Store, query: Query, limit: int, as_of: datetime | None) -> Sequence[Hit]:
    """The hits of ``query``. Raises MemoryCallError that names the query."""
    about = f"searching for query {query.id} ({query.text[:60]!r})"
    hits = _called(about, lambda: store.search(query.text, limit, as_of))
    for hit in hits:
        if not math.isfinite(hit.score):
            raise MemoryCallError(f"{about}: a hit has the score {hit.score}, expected a finite number", _REMEDY)
        if hit.unit is None and hit.text is None:
            raise MemoryCallError(f"{about}: a hit has neither a unit id nor a text", _REMEDY)
    return hits


def _called(about: str, call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except MembenchError:
        raise
    except Exception as error:
        raise MemoryCallError(f"{about}: {type(error).__name__}: {error}", _REMEDY) from error
