"""The deterministic ruler: every haystack through the real write path, every question through the real search path."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from membench.corpora.corpus import Corpus
from membench.corpora.types import Category, Instance, Query
from membench.embedding.cached import CachedEmbedder
from membench.errors import CorpusError, InstrumentError, UsageError
from membench.memories.protocol import Description, Hit, Receipt, Store
from membench.ruler import calls
from membench.ruler.accounting import Accounting, fates, gold_lost
from membench.ruler.arm import Arm
from membench.ruler.attribution import Attribution
from membench.ruler.fragments import Fragment, fragments
from membench.ruler.latency import Latency
from membench.ruler.observer import Observer, Silent
from membench.ruler.timeline import searched_at, span_days

_UNITS_A_WRITE = 256
# Of each pool: what changes from one search to the next shows itself in the first ones.
_SEARCHES_REPEATED = 5

# The first pool, and the one in which an own memory is given the same texts a second time.
_FIRST, _AGAIN = "p1", "p0"


@dataclass(frozen=True, slots=True)
class Scored:
    """One scored query: its gold and the 1-based rank of each, None where it did not come back.

    ``turn_ranks`` and ``turn_observed`` are None where the granularity has no turn level. ``hits`` is the ranked list
    as (session, turns, score).
    """

    id: str
    category: Category
    gold_sessions: tuple[str, ...]
    session_ranks: tuple[int | None, ...]
    session_observed: int
    gold_turns: tuple[str, ...]
    turn_ranks: tuple[int | None, ...] | None
    turn_observed: int | None
    hits: tuple[tuple[str, tuple[str, ...], float], ...]


@dataclass(slots=True)
class ArmResult:
    """What measuring one arm gave: the scored queries in the order of the corpus, and the accounting.

    ``noisy``: a search that was asked again gave another list. ``writes`` and ``searches`` say how long calls took.
    """

    arm: Arm
    memory: Description
    queries: list[Scored] = field(default_factory=list)
    accounting: Accounting = field(default_factory=Accounting)
    noisy: bool = False
    writes: Latency = field(default_factory=Latency)
    searches: Latency = field(default_factory=Latency)


def measure(
    corpus: Corpus, arms: Sequence[Arm], embedder: CachedEmbedder | None, observer: Observer
) -> list[ArmResult]:
    """Measures ``arms`` on ``corpus``, one instance at a time, sharing every embedding.

    ``embedder`` is the one that the memories were built with, if any. Raises CorpusError for a corpus that cannot tell
    one memory from another, UsageError for a timeline that it has no dates for, MemoryCallError and ModelError for a
    call that fails.
    """
    results = [ArmResult(arm, calls.describe(arm.memory)) for arm in arms]
    _refuse_unfit(corpus, results)
    for place, instance in enumerate(corpus.instances(), start=1):
        queries = [query for query in instance.queries if query.scorable]
        if embedder is not None:
            embedder.forget()
            embedder.embed([query.text for query in queries], "query")
        for number, result in enumerate(results):
            _measure_instance(corpus, f"p{place}", instance, queries, result, number, observer)
    return results


def _refuse_unfit(corpus: Corpus, results: Sequence[ArmResult]) -> None:
    if corpus.evidence_only:
        raise CorpusError(
            f"{corpus.key} cannot measure retrieval: every session of every haystack is gold, so that there is nothing "
            "to tell it from",
            "Use a corpus with distractors: longmemeval_s instead of longmemeval_oracle.",
        )
    for result in results:
        if result.memory.backend == "keyword":
            raise InstrumentError(
                f"the memory {result.memory.name} has no embedder and would match keywords: expected a semantic search",
                "Give it a model: membench fetch all-minilm-l6-v2.",
            )
        if result.arm.timeline != "now" and corpus.survey.quirks.undated_sessions == corpus.survey.sessions:
            raise UsageError(
                f"--timeline {result.arm.timeline} needs dates; no session of {corpus.key} has one that can be read.",
                "Use --timeline now, or mend the dates: the README says how each format writes them.",
            )
        if result.arm.timeline == "literal" and result.arm.as_of is None:
            raise UsageError(
                "--timeline literal needs a date to search at.", "Add --as-of, such as --as-of 2024-01-31."
            )
    if any(result.arm.timeline == "asked" for result in results):
        _refuse_unasked(corpus)


def _refuse_unasked(corpus: Corpus) -> None:
    for instance in corpus.instances():
        for query in instance.queries:
            if query.scorable and query.asked is None:
                raise UsageError(
                    f"--timeline asked needs the date of every question; {corpus.key} has none that can be read for "
                    f"query {query.id}.",
                    "Use --timeline now, anchored or literal, or mend the date: the README says how to write it.",
                )


def _measure_instance(
    corpus: Corpus,
    pool: str,
    instance: Instance,
    queries: Sequence[Query],
    result: ArmResult,
    number: int,
    observer: Observer,
) -> None:
    arm, accounting = result.arm, result.accounting
    written = fragments(instance, arm.granularity, arm.chunk_size, corpus.text, arm.timeline, pool)

    def found(query: Query, where: Store, latency: Latency) -> Sequence[Hit]:
        as_of = searched_at(arm.timeline, query, instance, arm.as_of)
        return calls.search(where, query, arm.limit, as_of, latency)

    with calls.opened(arm.memory, pool, instance.id) as store:
        with observer.phase("ingest", number):
            turns = sum(len(session.turns) for session in instance.sessions)
            receipts = _ingest(store, written, turns, result.writes, observer)
        accounting.count_writes(written, receipts)
        accounting.widest_span_days = max(accounting.widest_span_days, span_days(instance))
        lost = fates(written, receipts)
        accounting.count_gold(queries, list(gold_lost(instance, written, lost)))
        attribution = Attribution((fragment for fragment in written if fragment.unit.id not in lost), pool)

        names: list[list[str | None]] = []
        with (
            observer.phase("search", number),
            _each(queries, lambda query: found(query, store, result.searches), result.memory.concurrency) as answers,
        ):
            for query, hits in zip(queries, answers, strict=True):
                attributed = attribution.attribute(hits[: arm.limit])
                accounting.count_hits(len(hits), arm.limit, attributed)
                result.queries.append(_scored(query, attributed.ranked, arm.granularity != "session"))
                observer.advance("search", 1)
                names.append(_names(hits))
        # Of the memories that ship with membench it is known, and shown by tests, that nothing of this happens.
        if result.memory.own:
            first = zip(queries[:_SEARCHES_REPEATED], names, strict=False)
            result.noisy |= any(_names(found(query, store, Latency())) != then for query, then in first)
    if result.memory.own and pool == _FIRST:
        # An index that is built at random gives the same list as long as it stands, and another only now and then.
        written = fragments(instance, arm.granularity, arm.chunk_size, corpus.text, arm.timeline, _AGAIN)
        with calls.opened(arm.memory, _AGAIN, instance.id) as again:
            _ingest(again, written, 0, Latency(), Silent())
            both = zip(queries, names, strict=True)
            result.noisy |= any(_names(found(query, again, Latency())) != then for query, then in both)


@contextmanager
def _each(
    queries: Sequence[Query], found: Callable[[Query], Sequence[Hit]], concurrency: int
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
    """What was hit, by text or by the number of the unit in its pool."""
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
    return receipts


def _scored(query: Query, ranked: Sequence[tuple[Fragment, float]], with_turns: bool) -> Scored:
    """Sessions and turns rank by their best fragment; one that holds several turns gives them in their order."""
    sessions = list(dict.fromkeys(fragment.session for fragment, _ in ranked))
    turns = list(dict.fromkeys(turn for fragment, _ in ranked for turn in fragment.turns)) if with_turns else None
    return Scored(
        id=query.id,
        category=query.category,
        gold_sessions=query.gold_sessions,
        session_ranks=tuple(_ranks(query.gold_sessions, sessions)),
        session_observed=len(sessions),
        gold_turns=query.gold_turns,
        turn_ranks=None if turns is None else tuple(_ranks(query.gold_turns, turns)),
        turn_observed=None if turns is None else len(turns),
        hits=tuple((fragment.session, fragment.turns, score) for fragment, score in ranked),
    )


def _ranks(gold: Sequence[str], ranked: Sequence[str]) -> Iterator[int | None]:
    places = {name: place for place, name in enumerate(ranked, start=1)}
    return (places.get(name) for name in gold)
