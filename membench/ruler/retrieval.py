"""The deterministic ruler: every haystack through the real write path, every question through the real search path."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from membench.corpora.corpus import Corpus
from membench.corpora.rendering import TextOptions
from membench.corpora.types import Instance, Query
from membench.ruler.arm import Arm
from membench.ruler.fragments import Fragment, fragments
from membench.ruler.part import SHARED, Part
from membench.ruler.pool import Bench, listed, measure_pool
from membench.ruler.scoring import Wanted
from membench.ruler.shared import SharedPool
from membench.ruler.timeline import newest_of, searched_at, span_days

# The first pool; the one in which an own memory is given the same texts a second time; and for a shared pool, which is
# too large for that, the one in which it is given the first of them a third time.
_FIRST, _AGAIN, _ONCE_MORE = "p1", "p0", "p2"
_UNITS_AGAIN = 2000


Wants = Callable[[str, int], bool]
"""Whether the pool of an instance, or `SHARED`, is to be measured for the arm of that number."""


def measured_parts(corpus: Corpus, benches: Sequence[Bench], wants: Wants) -> Iterator[tuple[int, Part]]:
    """Every part that ``wants`` asks for, with the number of its arm, as it is measured.

    Own pools are measured an instance at a time, and all arms share its embeddings; a shared pool is one part. Raises
    MemoryCallError and ModelError for a call that fails.
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
