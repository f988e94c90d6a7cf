"""Every figure of a measurement can be had again from its queries, by the definitions and nothing else."""

import hashlib
import math

import pytest

from membench.reports.measurement import LevelMetrics, Measurement, QueryRanks

Lists = list[tuple[str, list[int | None], int]]


def of_level(level: str, queries: list[QueryRanks]) -> Lists:
    if level == "session":
        return [(query.id, query.session_ranks, query.session_observed) for query in queries]
    return [
        (query.id, query.turn_ranks, query.turn_observed)
        for query in queries
        if query.turn_ranks and query.turn_observed is not None
    ]


def literal(name: str, ranks: list[int | None], k: int) -> float:
    within = [rank for rank in ranks if rank is not None and rank <= k]
    if name == "recall_all":
        return 1.0 if len(within) == len(ranks) else 0.0
    if name == "recall_any":
        return 1.0 if within else 0.0
    if name == "recall_micro":
        return len(within) / len(ranks)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(ranks))))
    return sum(1 / math.log2(rank + 1) for rank in within) / ideal


def population(ids: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]


def check_level(found: LevelMetrics, lists: Lists, cut_offs: list[int]) -> list[int]:
    """Compare every figure; the cut-offs that must be left out are returned."""
    omitted = []
    for k in cut_offs:
        counted = [(name, ranks) for name, ranks, observed in lists if observed >= k]
        if not counted:
            omitted.append(k)
        for metric in ("recall_all", "recall_any", "recall_micro", "ndcg"):
            figure = getattr(found, metric).get(str(k))
            if not counted:
                assert figure is None
                continue
            assert figure.queries == len(counted)
            assert figure.population == population([name for name, _ in counted])
            mean = sum(literal(metric, ranks, k) for _, ranks in counted) / len(counted)
            assert figure.value == pytest.approx(mean, rel=1e-12)
    firsts = [min((rank for rank in ranks if rank is not None), default=math.inf) for _, ranks, _ in lists]
    if not lists:
        assert found.mrr is None
    else:
        assert found.mrr is not None
        assert found.mrr.value == pytest.approx(sum(1 / first for first in firsts) / len(firsts), rel=1e-12)
        assert (found.mrr.queries, found.mrr.population) == (len(lists), population([name for name, _, _ in lists]))
    return omitted


@pytest.mark.parametrize("made", ["by_turn", "by_session"])
def test_all_figures_follow_from_the_ranks(made, request):
    measurement: Measurement = request.getfixturevalue(made)[0]
    omitted = []
    for level in ("session", "turn"):
        found = getattr(measurement.metrics, level)
        if found is None:
            assert measurement.arm.granularity == "session"
            continue
        left_out = check_level(found, of_level(level, measurement.queries), measurement.arm.cut_offs)
        omitted += [(level, k) for k in left_out]
    assert [(one.level, one.cut_off) for one in measurement.omitted] == omitted
    assert omitted


def test_the_figures_of_a_category_follow_from_the_ranks_of_its_queries(by_turn):
    measurement = by_turn[0]
    assert sum(category.queries for category in measurement.by_category) == measurement.counts.scored
    for category in measurement.by_category:
        queries = [query for query in measurement.queries if query.category == category.number]
        assert len(queries) == category.queries
        for level in ("session", "turn"):
            found = getattr(category.metrics, level)
            check_level(found, of_level(level, queries), measurement.arm.cut_offs)


def test_every_query_of_the_corpus_is_counted_once(by_turn):
    measurement = by_turn[0]
    counts = measurement.counts
    assert counts.scored == len(measurement.queries)
    assert counts.scored + counts.unanswerable + counts.without_gold == measurement.corpus.queries == 30
