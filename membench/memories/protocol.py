"""What a memory is to membench: it opens empty stores, takes units, gives ranked hits.

A memory sees opaque ids that are made for the run; gold is matched outside it, so nothing it is given tells the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Unit:
    """What is written once. ``id`` and ``session`` are opaque; ``time`` is when it was said, None where unknown."""

    id: str
    session: str
    text: str
    time: datetime | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one unit. ``displaced`` names the units that this write pushed out of the store."""

    status: Literal["stored", "duplicate", "refused"]
    reason: str | None = None
    displaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result, by the id of the unit or, from a memory that knows no ids, by its text."""

    score: float
    unit: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A memory's identity: measurements of two memories are comparable only where all of it agrees.

    ``backend`` is what ranks, read from the live memory. ``embeds`` tells that vectors come from the run's embedder.
    ``ephemeral``: what is written is gone after `close`, and nothing else stands in the store. ``concurrency``: how
    many searches may be asked at a time. ``own``: it is the caller's own, over a bridge, and nothing is known of it but
    what it says. These four and ``honours_as_of`` are no part of the identity.
    """

    name: str
    version: str
    backend: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    honours_as_of: bool = False
    embeds: bool = False
    ephemeral: bool = True
    concurrency: int = 1
    own: bool = False


class Store(Protocol):
    """One pool's store, empty when opened."""

    def write(self, units: Sequence[Unit]) -> Sequence[Receipt]:
        """One receipt a unit, in order. Everything stored is visible to the next search."""
        ...

    def search(self, query: str, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """At most ``limit`` hits, best first, as a memory whose clock shows ``as_of`` would give them."""
        ...

    def close(self) -> None:
        """Leaves nothing behind."""
        ...


class Memory(Protocol):
    """The system under test."""

    def describe(self) -> Description:
        """The identity, read from the live memory."""
        ...

    def open(self, pool: str) -> Store:
        """A fresh, empty store for the pool of that name, which is as opaque as a unit's id."""
        ...
