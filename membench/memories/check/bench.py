"""Calls to the memory that is checked: what goes wrong in one is a broken rule with its message."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Literal, TypeVar

from membench.errors import MembenchError, UsageError
from membench.memories.check.hits import name_of, place_of, printable, quoted, shown_search
from membench.memories.check.report import Example
from membench.memories.check.surroundings import Surroundings
from membench.memories.protocol import Description, Hit, Memory, Receipt, Store, Unit

Kind = Literal["python", "command", "http"]
"""Where the memory runs: in this process, in one that this process started, or out of sight."""

LIMIT = 20
_STATUSES = ("stored", "duplicate", "refused")
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5)

Answer = TypeVar("Answer")


class Broken(Exception):  # noqa: N818
    """The rule does not hold."""

    def __init__(self, reason: str, call: str, answer: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.example = Example(call=printable(call), answer=printable(answer))


class NotJudged(Exception):  # noqa: N818
    """The rule does not apply, or what it needs is not there."""


class WrongReceipts(NotJudged):
    """A write was not answered by one receipt a unit, which is a rule of its own."""


@dataclass(frozen=True, slots=True)
class Written:
    """One unit and what became of it."""

    unit: Unit
    receipt: Receipt

    @property
    def stored(self) -> bool:
        """What its receipt says."""
        return self.receipt.status == "stored"


@dataclass(slots=True)
class Bench:
    """A memory, and what is known of it so far.

    ``patience``: seconds that a stored unit is waited for. ``timeout``: seconds that searches asked at a time may go
    without an answer. ``settling``: seconds after a write in which this memory, which is late, may still bring its
    units to light; a rule of its own says so, and the others wait. ``seconds_lost`` adds up calls that failed.
    """

    memory: Memory
    kind: Kind
    surroundings: Surroundings
    patience: float
    timeout: float
    allow_persistent: bool = False
    description: Description | None = None
    settling: float = 0.0
    seconds_lost: float = 0.0
    close_failure: Broken | None = None
    _ids: set[str] = field(default_factory=set)
    _pools: Iterator[int] = field(default_factory=lambda: count(1))

    def new_name(self) -> str:
        """The name of a pool that has not been opened, in the form that a run gives it."""
        return f"p{next(self._pools)}"

    @contextmanager
    def pool(self, name: str | None = None) -> Iterator["Pool"]:
        """A pool, closed at the end. That closing fails is kept for the rule about it."""
        name = self.new_name() if name is None else name
        pool = Pool(self, name, self.call(f"open({quoted(name)})", lambda: self.memory.open(name)))
        try:
            yield pool
        except BaseException:
            # Another call may have broken more than itself.
            with suppress(Broken):
                pool.close()
            raise
        try:
            pool.close()
        except Broken as failure:
            self.close_failure = self.close_failure or failure

    def call(self, shown: str, call: Callable[[], Answer]) -> Answer:
        """What ``call`` gives. Raises Broken where it raises, and UsageError where that is what it raises."""
        begun = time.monotonic()
        try:
            return call()
        except UsageError:
            raise
        except Exception as error:
            self.seconds_lost += time.monotonic() - begun
            told = error.what if isinstance(error, MembenchError) else f"{type(error).__name__}: {error}"
            raise Broken(f"{shown} failed: {told}", shown, told) from error

    def given(self, ids: Sequence[str]) -> None:
        """Remembers that some pool was given these ids."""
        self._ids.update(ids)

    def was_given(self, unit: str) -> bool:
        """Whether some pool was given that id."""
        return unit in self._ids


@dataclass(slots=True)
class Pool:
    """One open pool and what was written to it. ``units`` number themselves as a run's do."""

    bench: Bench
    name: str
    store: Store
    written: list[Written] = field(default_factory=list)
    _closed: bool = False

    def write(
        self, texts: Sequence[str], *, times: Sequence[datetime] = (), numbers: Sequence[int] = ()
    ) -> list[Written]:
        """The units of ``texts`` with their receipts, once a late memory has had its time to bring them to light.

        Raises Broken where the call fails, WrongReceipts where there is not one receipt a unit.
        """
        first = len(self.written) + 1
        units = [
            Unit(f"{self.name}u{number}", f"{self.name}s1", text, times[place] if times else None)
            for place, (number, text) in enumerate(zip(numbers or range(first, first + len(texts)), texts, strict=True))
        ]
        self.bench.given([unit.id for unit in units])
        shown = f"write({len(units)} units to {self.name}: {units[0].id} {quoted(units[0].text)}, ...)"
        if len(units) == 1:
            shown = f"write({units[0].id} {quoted(units[0].text)})"
        receipts: list[Any] = self.bench.call(shown, lambda: list(self.store.write(units)))
        if len(receipts) != len(units):
            raise WrongReceipts(f"{shown}: expected {len(units)} receipts, found {len(receipts)}")
        for unit, receipt in zip(units, receipts, strict=True):
            if not isinstance(receipt, Receipt) or receipt.status not in _STATUSES:
                raise WrongReceipts(f"{shown}: the receipt of {unit.id} is {receipt!r:.80}")
        new = [Written(unit, receipt) for unit, receipt in zip(units, receipts, strict=True)]
        self.written += new
        if self.bench.settling:
            self.wait_for([one for one in self.standing() if one in new and one.unit.text.strip()], self.bench.settling)
        return new

    def fill(
        self, texts: Sequence[str], *, times: Sequence[datetime] = (), numbers: Sequence[int] = ()
    ) -> list[Written]:
        """As `write`. Raises NotJudged where nothing of it was stored."""
        written = self.write(texts, times=times, numbers=numbers)
        if not any(one.stored for one in written):
            raise NotJudged(f"It stored none of {len(texts)} texts.")
        return written

    def search(self, query: str, limit: int = LIMIT, as_of: datetime | None = None) -> list[Hit]:
        """The hits. Raises Broken where the call fails or gives something else."""
        shown = shown_search(query, limit, as_of)
        hits: list[Any] = self.bench.call(shown, lambda: list(self.store.search(query, limit, as_of)))
        for hit in hits:
            if not isinstance(hit, Hit):
                raise Broken(f"{shown}: expected hits, found {hit!r:.80}", shown, f"{hit!r:.80}")
        return hits

    def close(self) -> None:
        """Closes it, once. Raises Broken where that fails."""
        if not self._closed:
            self._closed = True
            self.bench.call(f"close() of {self.name}", self.store.close)

    def standing(self) -> list[Written]:
        """What was stored and not displaced since."""
        gone = {unit for one in self.written for unit in one.receipt.displaced}
        return [one for one in self.written if one.stored and one.unit.id not in gone]

    def look_for(self, one: Written, query: str | None = None, limit: int = LIMIT) -> tuple[int | None, list[Hit]]:
        """The 1-based place of a unit among the hits of its own text, and the hits.

        Raises NotJudged where it is not among them and they name what nobody wrote: it may be one of those.
        """
        hits = self.search(one.unit.text if query is None else query, limit)
        place = place_of(one.unit, hits)
        if place is None and (strange := self.strange(hits)):
            raise NotJudged(f"Hits name what was never written, such as {quoted(strange[0])}: see the rule `ids`.")
        return place, hits

    def strange(self, hits: Sequence[Hit]) -> list[str]:
        """The ids among ``hits`` that no pool was given, and the texts that this one was not."""
        texts = {one.unit.text.strip() for one in self.written}
        return [
            name
            for hit in hits
            if (name := name_of(hit)) is not None
            and not (self.bench.was_given(name) if hit.unit is not None else name.strip() in texts)
        ]

    def wait_for(self, wanted: Sequence[Written], seconds: float) -> tuple[dict[str, float], list[Written]]:
        """Asks for each unit until all are found or ``seconds`` are over.

        Gives the ids that were not found at once, with the seconds until they were, and what was never found.
        """
        begun = time.monotonic()
        late: dict[str, float] = {}
        pauses = iter(_PAUSES)
        pending = [one for one in wanted if not self._visible(one)]
        while pending and time.monotonic() - begun < seconds:
            time.sleep(next(pauses, _PAUSES[-1]))
            for one in [one for one in pending if self._visible(one)]:
                late[one.unit.id] = time.monotonic() - begun
                pending.remove(one)
        return late, pending

    def _visible(self, one: Written) -> bool:
        # Ranked low is another thing than not there.
        return self.look_for(one)[0] is not None or self.look_for(one, limit=len(self.written))[0] is not None
