"""One pool through a memory: everything is written, then every query is searched, and all of it is accounted for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from membench.embedding.cached import CachedEmbedder
from membench.memories.protocol import Description, Hit, Receipt, Store
from membench.ruler import calls
from membench.ruler.arm import Arm
from membench.ruler.attribution import Attribution
from membench.ruler.fragments import Fragment
from membench.ruler.latency import Latency
from membench.ruler.ledger import Ledger
from membench.ruler.observer import Observer, Silent
from membench.ruler.part import Findings
from membench.ruler.scoring import Wanted, scored

_UNITS_A_WRITE = 256
# Of each pool: what changes from one search to the next shows itself in the first ones.
_SEARCHES_REPEATED = 5

Batches = Iterable[tuple[int, Sequence[Fragment]]]
"""Fragments in the order of writing, in batches, each with the number of the corpus's turns that it stands for."""


@dataclass(slots=True)
class Timed:
    """How long the calls to a memory took."""

    writes: Latency = field(default_factory=Latency)
    searches: Latency = field(default_factory=Latency)

    def add(self, other: "Timed") -> None:
        """Takes in what another has timed."""
        for mine, more in ((self.writes, other.writes), (self.searches, other.searches)):
            mine.seconds += more.seconds
            mine.items += more.items


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a pool is measured: the arm, its memory as it describes itself, the embedder that it was built with, if
    any, and who is told. ``number`` is the arm's among those of the run.
    """

    arm: Arm
    memory: Description
    embedder: CachedEmbedder | None
    observer: Observer
    number: int
    timed: Timed


@dataclass(slots=True)
class Measured:
    """What a pool gave, with what each search brought back, by text or by the number of the unit in the pool."""

    findings: Findings
    ledger: Ledger
    names: list[list[str | None]]


def measure_pool(bench: Bench, pool: str, about: str, batches: Batches, wanted: Callable[[], list[Wanted]]) -> Measured:
    """Opens a store for ``pool``, which an error calls ``about``.

    ``wanted`` is asked for the queries once everything is written. Raises MemoryCallError and ModelError for a call
    that fails.
    """
    arm, timed, number = bench.arm, bench.timed, bench.number
    findings, ledger, names = Findings(), Ledger(), []
    if bench.embedder is not None:
        bench.embedder.take_lengths()
    with calls.opened(arm.memory, pool, about) as store:
        for turns, fragments in batches:
            with bench.observer.phase("ingest", number):
                receipts = _ingest(store, fragments, turns, timed.writes, bench.observer)
            ledger.record(fragments, receipts)
            findings.accounting.count_writes(fragments, receipts)
        queries = wanted()
        findings.accounting.count_gold(queries, ledger)
        attribution = Attribution(ledger.standing(), pool)
        with (
            bench.observer.phase("search", number),
            _each(queries, lambda one: _found(bench, one, store), bench.memory.concurrency) as answers,
        ):
            for one, hits in zip(queries, answers, strict=True):
                attributed = attribution.attribute(hits[: arm.limit])
                findings.accounting.count_hits(len(hits), arm.limit, attributed)
                findings.queries.append(scored(one, attributed.ranked, arm.granularity != "session"))
                bench.observer.advance("search", 1)
                names.append(_names(hits))
        if bench.embedder is not None:
            findings.lengths = bench.embedder.take_lengths()
        # Of the memories that ship with membench it is known, and shown by tests, that nothing of this happens.
        if bench.memory.own:
            first = zip(queries[:_SEARCHES_REPEATED], names, strict=False)
            findings.noisy = any(_names(_found(bench, one, store, Latency())) != then for one, then in first)
    return Measured(findings, ledger, names)


def listed(
    bench: Bench, pool: str, about: str, fragments: Sequence[Fragment], queries: Sequence[Wanted]
) -> list[list[str | None]]:
    """What each search brings back from a store of ``fragments`` that is built for this alone, outside of any account.

    An index that is built at random gives the same list as long as it stands, and another only now and then.
    """
    with calls.opened(bench.arm.memory, pool, about) as store:
        _ingest(store, fragments, 0, Latency(), Silent())
        return [_names(_found(bench, one, store, Latency())) for one in queries]


def _found(bench: Bench, wanted: Wanted, store: Store, latency: Latency | None = None) -> Sequence[Hit]:
    return calls.search(store, wanted.query, bench.arm.limit, wanted.as_of, latency or bench.timed.searches)


@contextmanager
def _each(
    queries: Sequence[Wanted], found: Callable[[Wanted], Sequence[Hit]], concurrency: int
) -> Iterator[Iterator[Sequence[Hit]]]:
    """The hits of each query, in their order, as many asked at a time as the memory takes."""
    if concurrency == 1:
        yield map(found, queries)
        return
    with ThreadPoolExecutor(concurrency, "membench-search") as pool:
        try:
            yield pool.map(found, queries)
        finally:
            # After a failure nobody wants the rest.
            pool.shutdown(wait=True, cancel_futures=True)


def _names(hits: Sequence[Hit]) -> list[str | None]:
    return [hit.text if hit.unit is None else hit.unit.partition("u")[2] for hit in hits]


def _ingest(
    store: Store, written: Sequence[Fragment], turns: int, latency: Latency, observer: Observer
) -> list[Receipt]:
    """The receipts of ``written``. Progress is told in turns: how many units there are is known only here."""
    receipts: list[Receipt] = []
    told = 0
    for start in range(0, len(written), _UNITS_A_WRITE):
        receipts += calls.write(store, written[start : start + _UNITS_A_WRITE], latency)
        done = turns * len(receipts) // len(written)
        observer.advance("ingest", done - told)
        told = done
    if not written:
        observer.advance("ingest", turns)
    return receipts
