"""From what the ruler gives to the measurement that is kept."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Literal

from membench.corpora.corpus import Corpus
from membench.corpora.types import Category
from membench.embedding.choice import EmbedderChoice
from membench.embedding.embedder import EmbedderIdentity, Kind
from membench.memories.protocol import Description
from membench.metrics.aggregate import Figure, Figures, Observed, figures
from membench.metrics.lengths import length_figures
from membench.reports import measurement as report
from membench.reports.head import Head
from membench.reports.naming import arm_name
from membench.ruler.accounting import Accounting
from membench.ruler.arm import Arm
from membench.ruler.part import Findings, Part, together
from membench.ruler.scoring import Scored

_MOST_REASONS = 3


def head_of(
    corpus: Corpus, arm: Arm, memory: Description, embedder: EmbedderIdentity | None, choice: EmbedderChoice
) -> Head:
    """What is known of the measurement of one arm before anything is measured: a pure function of its arguments."""
    survey, reading = corpus.survey, corpus.reading
    return Head(
        corpus=report.Corpus(
            key=corpus.key,
            fingerprint=survey.fingerprint,
            gold=reading.gold,
            instances=survey.instances,
            sessions=survey.sessions,
            turns=survey.turns,
            queries=survey.queries,
            slice=report.Slice(instances=reading.part.instances, queries=reading.part.queries),
            quirks=report.Quirks(**asdict(survey.quirks)),
        ),
        arm=_arm(corpus, arm, arm_name(corpus, arm, memory, embedder, choice)),
        memory=report.MemoryIdentity(
            name=memory.name, version=memory.version, backend=memory.backend, options=dict(memory.settings)
        ),
        embedder=None if embedder is None else report.Embedder.model_validate(embedder.as_dict()),
        unanswerable=survey.unanswerable,
        without_gold=survey.without_gold,
    )


def measurement_of(head: Head, parts: Iterable[Part]) -> report.Measurement:
    """The measurement that all ``parts`` of an arm make: a pure function of its arguments, whatever their order."""
    found = together(parts)
    reasons = list(_unclean(head, found.accounting))
    session, turn = _levels(found.queries, head.arm)
    return report.Measurement(
        schema=report.SCHEMA,
        status="unclean" if reasons else "clean",
        reasons=reasons,
        corpus=head.corpus,
        arm=head.arm,
        memory=report.Memory(**head.memory.model_dump(), noisy=found.noisy),
        embedder=head.embedder,
        inputs=_inputs(head, found),
        counts=report.Counts(scored=len(found.queries), unanswerable=head.unanswerable, without_gold=head.without_gold),
        accounting=_accounting(head, found),
        metrics=_metrics(session, turn),
        omitted=[*_omitted("session", session, head.arm), *_omitted("turn", turn, head.arm)],
        by_category=[
            _category(category, found.queries, head.arm)
            for category in sorted({query.category for query in found.queries}, key=_order)
        ],
        queries=[_query(query) for query in found.queries],
    )


def _unclean(head: Head, counted: Accounting) -> Iterator[str]:
    if head.embedder is not None and head.embedder.kind == "toy":
        yield "measured with the toy embedder, which scores shared words, not meaning: never a result, never a baseline"
    if counted.shared is not None:
        yield from _incomplete(counted)
    if count := counted.foreign_hits:
        yield f"{count:,} hits name a unit of another pool: the pools of this memory are not apart"
    if counted.hits and counted.unattributed_hits == counted.hits:
        yield f"none of {counted.hits:,} hits names a unit or a text that was written: no figure here says anything"
    if not counted.written:
        yield "the memory stored nothing: no figure here says anything of its ranking"
    elif not counted.hits:
        yield "no search brought back anything: no figure here says anything of a ranking"


def _incomplete(counted: Accounting) -> Iterator[str]:
    """A shared pool is the same for everyone, or its figures are of a smaller haystack, which is an easier one."""
    if refused := sum(counted.refused.values()):
        heaviest = sorted(counted.refused.items(), key=lambda item: (-item[1], item[0]))[:_MOST_REASONS]
        listed = [f"{count:,} {reason}" for reason, count in heaviest]
        more = ["others"] * (len(counted.refused) > _MOST_REASONS)
        shown = "; ".join(listed + more)
        yield f"the memory refused {_of(refused, counted.attempted)} units of the shared pool: {shown}"
    if counted.shared is not None and (never := counted.shared.never_stored):
        yield f"{_of(never, counted.shared.texts)} sessions of the shared pool stand nowhere in the store"


def _of(count: int, total: int) -> str:
    return f"{count:,} of {total:,}"


def _arm(corpus: Corpus, arm: Arm, name: str) -> report.ArmSettings:
    return report.ArmSettings(
        name=name,
        timeline=arm.timeline,
        as_of=arm.as_of.isoformat() if arm.as_of is not None and arm.timeline == "literal" else None,
        granularity=arm.granularity,
        chunk_size=arm.chunk_size if arm.granularity == "chunk" else None,
        pool=arm.pool,
        roles=corpus.reading.roles,
        captions=corpus.text.captions,
        speakers=corpus.text.speakers,
        limit=arm.limit,
        cut_offs=list(arm.cut_offs),
    )


def _inputs(head: Head, found: Findings) -> report.Inputs | None:
    if head.embedder is None:
        return None
    window = head.embedder.input_window

    def lengths(kind: Kind) -> report.Lengths:
        return report.Lengths(**asdict(length_figures(found.lengths.get(kind, {}), window)))

    return report.Inputs(documents=lengths("document"), queries=lengths("query"))


def _accounting(head: Head, found: Findings) -> report.Accounting:
    counted = found.accounting
    rate = head.memory.options.get("decay_rate")
    return report.Accounting(
        attempted=counted.attempted,
        written=counted.written,
        displaced=counted.displaced,
        duplicates=dict(sorted(counted.duplicates.items())),
        refused=dict(sorted(counted.refused.items())),
        gold_lost=[report.GoldLost(**asdict(lost)) for lost in counted.gold_lost],
        queries_missing_gold=counted.queries_missing_gold,
        searches=counted.searches,
        empty_searches=counted.empty_searches,
        hits=counted.hits,
        hits_over_limit=counted.hits_over_limit,
        unattributed_hits=counted.unattributed_hits,
        foreign_hits=counted.foreign_hits,
        repeated_hits=counted.repeated_hits,
        undated_units=counted.undated_units,
        widest_span_days=counted.widest_span_days,
        implied_decay=math.exp(-rate * counted.widest_span_days) if isinstance(rate, int | float) else None,
        queries_without_gold_turn=sum(not query.gold_turns for query in found.queries),
        shared=_shared(counted),
    )


def _shared(counted: Accounting) -> report.SharedPool | None:
    sessions = counted.shared
    if sessions is None:
        return None
    return report.SharedPool(
        session_references=sessions.references,
        session_ids=sessions.ids,
        session_texts=sessions.texts,
        units_accepted=counted.written,
        writes_collapsed=sum(counted.duplicates.values()),
        units_refused=sum(counted.refused.values()),
        rows=counted.written - counted.displaced,
        redated_references=sessions.redated,
        sessions_never_stored=sessions.never_stored,
    )


def _levels(queries: Sequence[Scored], arm: report.ArmSettings) -> tuple[Figures, Figures | None]:
    sessions = [Observed(query.id, query.session_ranks, query.session_observed) for query in queries]
    if arm.granularity == "session":
        return figures(sessions, arm.cut_offs), None
    turns = [
        Observed(query.id, query.turn_ranks, query.turn_observed)
        for query in queries
        if query.turn_ranks and query.turn_observed is not None
    ]
    return figures(sessions, arm.cut_offs), figures(turns, arm.cut_offs)


def _metrics(session: Figures, turn: Figures | None) -> report.Metrics:
    return report.Metrics(session=level_metrics(session), turn=None if turn is None else level_metrics(turn))


def level_metrics(found: Figures) -> report.LevelMetrics:
    """The figures of one level as they are kept."""
    at = {name: {str(k): _figure(one) for k, one in row.items()} for name, row in found.at.items()}
    return report.LevelMetrics(**at, mrr=None if found.mrr is None else _figure(found.mrr))


def _figure(figure: Figure) -> report.Figure:
    return report.Figure(value=figure.value, queries=figure.queries, population=figure.population)


def _omitted(level: Literal["session", "turn"], found: Figures | None, arm: report.ArmSettings) -> list[report.Omitted]:
    if found is None:
        return []
    reason = f"no search brought back so many distinct {level}s in {arm.limit} hits"
    return [report.Omitted(level=level, cut_off=k, reason=reason) for k in found.unobserved]


def _category(category: Category, queries: Sequence[Scored], arm: report.ArmSettings) -> report.CategoryMetrics:
    members = [query for query in queries if query.category == category]
    return report.CategoryMetrics(
        name=category.name, number=category.number, queries=len(members), metrics=_metrics(*_levels(members, arm))
    )


def _order(category: Category) -> tuple[str, str]:
    return (f"{category.number:09}" if isinstance(category.number, int) else category.number, category.name)


def _query(query: Scored) -> report.QueryRanks:
    return report.QueryRanks(
        id=query.id,
        category=query.category.number,
        gold_sessions=list(query.gold_sessions),
        session_ranks=list(query.session_ranks),
        session_observed=query.session_observed,
        gold_turns=list(query.gold_turns),
        turn_ranks=None if query.turn_ranks is None else list(query.turn_ranks),
        turn_observed=query.turn_observed,
    )
