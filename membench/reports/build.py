"""From what the ruler gives to the measurement that is kept."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Literal

from membench.corpora.corpus import Corpus
from membench.corpora.types import Category
from membench.embedding.choice import EmbedderChoice
from membench.embedding.embedder import EmbedderIdentity
from membench.metrics.aggregate import Figure, Figures, Observed, figures
from membench.reports import measurement as report
from membench.reports.naming import arm_name
from membench.ruler.arm import Arm
from membench.ruler.retrieval import ArmResult, Scored


def measurement_of(
    corpus: Corpus, result: ArmResult, embedder: EmbedderIdentity | None, choice: EmbedderChoice
) -> report.Measurement:
    """The measurement of one arm: a pure function of its arguments."""
    reasons = list(_unclean(result, embedder))
    session, turn = _levels(result.queries, result.arm)
    return report.Measurement(
        schema=report.SCHEMA,
        status="unclean" if reasons else "clean",
        reasons=reasons,
        corpus=_corpus(corpus),
        arm=_arm(corpus, result, arm_name(corpus, result.arm, result.memory, embedder, choice)),
        memory=report.Memory(
            name=result.memory.name,
            version=result.memory.version,
            backend=result.memory.backend,
            options=dict(result.memory.settings),
            noisy=result.noisy,
        ),
        embedder=None if embedder is None else report.Embedder.model_validate(embedder.as_dict()),
        counts=report.Counts(
            scored=len(result.queries),
            unanswerable=corpus.survey.unanswerable,
            without_gold=corpus.survey.without_gold,
        ),
        accounting=_accounting(result),
        metrics=_metrics(session, turn),
        omitted=[*_omitted("session", session, result.arm), *_omitted("turn", turn, result.arm)],
        by_category=[
            _category(category, result) for category in sorted({query.category for query in result.queries}, key=_order)
        ],
        queries=[_query(query) for query in result.queries],
    )


def _unclean(result: ArmResult, embedder: EmbedderIdentity | None) -> Iterator[str]:
    if embedder is not None and embedder.kind == "toy":
        yield "measured with the toy embedder, which scores shared words, not meaning: never a result, never a baseline"
    if count := result.accounting.foreign_hits:
        yield f"{count:,} hits name a unit of another pool: the pools of this memory are not apart"
    counted = result.accounting
    if counted.hits and counted.unattributed_hits == counted.hits:
        yield f"none of {counted.hits:,} hits names a unit or a text that was written: no figure here says anything"
    if not result.accounting.written:
        yield "the memory stored nothing: no figure here says anything of its ranking"
    elif not result.accounting.hits:
        yield "no search brought back anything: no figure here says anything of a ranking"


def _corpus(corpus: Corpus) -> report.Corpus:
    survey, reading = corpus.survey, corpus.reading
    return report.Corpus(
        key=corpus.key,
        fingerprint=survey.fingerprint,
        gold=reading.gold,
        instances=survey.instances,
        sessions=survey.sessions,
        turns=survey.turns,
        queries=survey.queries,
        slice=report.Slice(instances=reading.part.instances, queries=reading.part.queries),
        quirks=report.Quirks(**asdict(survey.quirks)),
    )


def _arm(corpus: Corpus, result: ArmResult, name: str) -> report.ArmSettings:
    arm = result.arm
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


def _accounting(result: ArmResult) -> report.Accounting:
    counted = result.accounting
    rate = result.memory.settings.get("decay_rate")
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
        queries_without_gold_turn=sum(not query.gold_turns for query in result.queries),
    )


def _levels(queries: Sequence[Scored], arm: Arm) -> tuple[Figures, Figures | None]:
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


def _omitted(level: Literal["session", "turn"], found: Figures | None, arm: Arm) -> list[report.Omitted]:
    if found is None:
        return []
    reason = f"no search brought back so many distinct {level}s in {arm.limit} hits"
    return [report.Omitted(level=level, cut_off=k, reason=reason) for k in found.unobserved]


def _category(category: Category, result: ArmResult) -> report.CategoryMetrics:
    queries = [query for query in result.queries if query.category == category]
    metrics = _metrics(*_levels(queries, result.arm))
    return report.CategoryMetrics(name=category.name, number=category.number, queries=len(queries), metrics=metrics)


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
