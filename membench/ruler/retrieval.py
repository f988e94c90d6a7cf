"""The deterministic ruler: every haystack through the real write path, every question through the real search path."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from membench.corpora.corpus import Corpus
from membench.corpora.rendering import TextOptions
from membench.corpora.types import Instance, Query
from membench.embedding.cached import CachedEmbedder
from membench.memories.protocol import Description
from membench.ruler import calls
from membench.ruler.accounting import Accounting
from membench.ruler.arm import Arm
from membench.ruler.fitness import refuse_unfit
from membench.ruler.fragments import Fragment, fragments
from membench.ruler.observer import Observer
from membench.ruler.part import SHARED, Findings, Part, together
from membench.ruler.pool import Bench, Timed, listed, measure_pool
from membench.ruler.scoring import Scored, Wanted
from membench.ruler.shared import SharedPool
from membench.ruler.timeline import newest_of, searched_at, span_days

# The first pool; the one in which an own memory is given the same texts a second time; and for a shared pool, which is
# too large for that, the one in which it is given the first of them a third time.
_FIRST, _AGAIN, _ONCE_MORE = "p1", "p0", "p2"
_UNITS_AGAIN = 2000


@dataclass(slots=True)
class ArmResult:
    """What measuring one arm gave: a part for each pool, and how long the calls took."""

    arm: Arm
    memory: Description
    parts: list[Part] = field(default_factory=list)
    timed: Timed = field(default_factory=Timed)

    @property
    def findings(self) -> Findings:
        """Of all its pools."""
        return together(self.parts)

    @property
    def queries(self) -> list[Scored]:
        """The scored queries in the order of the corpus."""
        return self.findings.queries

    @property
    def accounting(self) -> Accounting:
        """Of all its pools."""
        return self.findings.accounting

    @property
    def noisy(self) -> bool:
        """Whether a search that was asked again gave another list."""
        return self.findings.noisy


Wants = Callable[[str, int], bool]
"""Whether the pool of an instance, or `SHARED`, is to be measured for the arm of that number."""


def measure(
    corpus: Corpus,
    arms: Sequence[Arm],
    embedder: CachedEmbedder | None,
    observer: Observer,
) -> list[ArmResult]:
    """Measures ``arms`` on the whole of ``corpus``.

    ``embedder`` is the one that the memories were built with, if any. Raises CorpusError for a corpus that cannot tell
    one memory from another, UsageError for a timeline that it has no dates for, MemoryCallError and ModelError for a
    call that fails.
    """
    results = [ArmResult(arm, calls.describe(arm.memory)) for arm in arms]
    refuse_unfit(corpus, arms, [result.memory for result in results])
    benches = [
        Bench(result.arm, result.memory, embedder, observer, number, result.timed)
        for number, result in enumerate(results)
    ]
    for number, part in measured_parts(corpus, benches, lambda pool, number: True):
        results[number].parts.append(part)
    return results


def measured_parts(corpus: Corpus, benches: Sequence[Bench], wants: Wants) -> Iterator[tuple[int, Part]]:
    """Every part that ``wants`` asks for, with the number of its arm, as it is measured.

    Own pools are measured an instance at a time, and all arms share its embeddings; a shared pool is one part. Errors
    are those of `measure`, save what `refuse_unfit` raises.
    """
    own = [bench for bench in benches if bench.arm.pool == "own"]
    if own:
        for place, instance in enumerate(corpus.instances(), start=1):
            wanting = [bench for bench in own if wants(instance.id, bench.number)]
            if wanting:
                yield from measured_instance(corpus.text, instance, place, wanting)
    for bench in benches:
        if bench.arm.pool == "shared" and wants(SHARED, bench.number):
            yield bench.number, _shared(corpus, bench)


def measured_instance(
    text: TextOptions, instance: Instance, place: int, benches: Sequence[Bench]
) -> Iterator[tuple[int, Part]]:
    """The parts of ``instance``, which is a pool of its own for each of ``benches``."""
    queries = [query for query in instance.queries if query.scorable]
    for embedder in dict.fromkeys(bench.embedder for bench in benches):
        if embedder is not None:
            embedder.forget()
            embedder.embed([query.text for query in queries], "query")
    for bench in benches:
        yield bench.number, _own(bench, text, instance, place, queries)


def _own(bench: Bench, text: TextOptions, instance: Instance, place: int, queries: Sequence[Query]) -> Part:
    arm, pool = bench.arm, f"p{place}"
    newest = newest_of(instance)
    homes = {turn.id: session.id for session in instance.sessions for turn in session.turns}
    wanted = [
        Wanted(
            query=query,
            instance=instance.id,
            as_of=searched_at(arm.timeline, query, newest, arm.as_of),
            sessions={session: session for session in query.gold_sessions},
            turns={turn: (homes[turn], turn) for turn in query.gold_turns},
        )
        for query in queries
    ]

    def written(pool: str) -> list[Fragment]:
        return fragments(instance, arm.granularity, arm.chunk_size, text, arm.timeline, pool)

    turns = sum(len(session.turns) for session in instance.sessions)
    about = f"instance {instance.id}"
    measured = measure_pool(bench, pool, about, [(turns, written(pool))], lambda: wanted)
    findings = measured.findings
    findings.accounting.widest_span_days = span_days(instance)
    if bench.memory.own and pool == _FIRST:
        findings.noisy |= listed(bench, _AGAIN, about, written(_AGAIN), wanted) != measured.names
    return Part(place, instance.id, findings)


def _shared(corpus: Corpus, bench: Bench) -> Part:
    about = f"the shared pool of {corpus.key}"
    pool = SharedPool(corpus, bench.arm, _FIRST)

    def batches() -> Iterator[tuple[int, list[Fragment]]]:
        for batch in pool.batches():
            yield batch
            if bench.embedder is not None:
                bench.embedder.forget()

    measured = measure_pool(bench, _FIRST, about, batches(), lambda: pool.wanted)
    findings = measured.findings
    findings.accounting.widest_span_days = pool.span_days()
    findings.accounting.shared = pool.sessions(measured.ledger.never_stored())
    if bench.memory.own:
        once, again = (
            listed(bench, name, about, _first_fragments(corpus, bench.arm, name), pool.wanted)
            for name in (_AGAIN, _ONCE_MORE)
        )
        findings.noisy |= once != again
    return Part(1, SHARED, findings)


def _first_fragments(corpus: Corpus, arm: Arm, pool: str) -> list[Fragment]:
    every = (fragment for _, batch in SharedPool(corpus, arm, pool).batches() for fragment in batch)
    return list(islice(every, _UNITS_AGAIN))
