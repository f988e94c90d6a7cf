"""The queries gained and lost: those that the headline metric counts on one side only."""

from collections.abc import Mapping

from membench.metrics.rank import recall_all
from membench.reports.comparison import Flip, Flips, Level, Rank
from membench.reports.measurement import Measurement, QueryRanks


def flips(baseline: Measurement, candidate: Measurement, cut_off: int, questions: Mapping[str, str]) -> list[Flips]:
    """One entry a level. ``questions`` has the text of a query by its id, where the corpus is at hand."""
    found = [_at("session", baseline, candidate, cut_off, questions)]
    if baseline.metrics.turn is not None and candidate.metrics.turn is not None:
        found.append(_at("turn", baseline, candidate, cut_off, questions))
    return found


def _at(
    level: Level, baseline: Measurement, candidate: Measurement, cut_off: int, questions: Mapping[str, str]
) -> Flips:
    before = {query.id: query for query in baseline.queries}
    gained: list[Flip] = []
    lost: list[Flip] = []
    count = 0
    for query in candidate.queries:
        was, now = _ranks(before[query.id], level, cut_off), _ranks(query, level, cut_off)
        if was is None or now is None:
            continue
        count += 1
        scores = recall_all(was, cut_off), recall_all(now, cut_off)
        if scores[0] != scores[1]:
            (gained if scores[1] > scores[0] else lost).append(_flip(query, level, was, now, questions))
    return Flips(level=level, cut_off=cut_off, queries=count, gained=gained, lost=lost)


def _ranks(query: QueryRanks, level: Level, cut_off: int) -> list[Rank | None] | None:
    """None where the query does not count at this cut-off."""
    ranks, length = (
        (query.session_ranks, query.session_observed) if level == "session" else (query.turn_ranks, query.turn_observed)
    )
    return ranks if ranks and length is not None and length >= cut_off else None


def _flip(
    query: QueryRanks,
    level: Level,
    was: list[Rank | None],
    now: list[Rank | None],
    questions: Mapping[str, str],
) -> Flip:
    return Flip(
        id=query.id,
        category=query.category,
        question=questions.get(query.id) or None,
        gold=query.gold_sessions if level == "session" else query.gold_turns,
        baseline_ranks=was,
        candidate_ranks=now,
    )
