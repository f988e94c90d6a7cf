"""Figures are compared over equal queries only, and the rest is set aside with its pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remeasured import with_ranks

from membench.compare.compare import compare
from membench.metrics.rank import AT_CUT_OFF
from membench.reports.comparison import Comparison
from membench.reports.measurement import Measurement, QueryRanks


def short(query: QueryRanks, length: int) -> dict[str, object]:
    """As if no more than ``length`` distinct sessions had come back."""
    ranks = [rank if rank is not None and rank <= length else None for rank in query.session_ranks]
    return {"session_observed": length, "session_ranks": ranks}


def counts(measurement: Measurement, k: int) -> dict[str, QueryRanks]:
    return {query.id: query for query in measurement.queries if query.session_observed >= k}


def mean(metric: str, queries: list[QueryRanks], k: int) -> float:
    return sum(AT_CUT_OFF[metric](query.session_ranks, k) for query in queries) / len(queries)


def check(baseline: Measurement, candidate: Measurement, comparison: Comparison) -> None:
    """Every cut-off of the session level is where its populations put it, with the figures of a plain sum."""
    assert comparison.metrics is not None
    aside = {one.cut_off: one for one in comparison.set_aside if one.level == "session"}
    for k in baseline.arm.cut_offs:
        was, now = counts(baseline, k), counts(candidate, k)
        both = sorted(was.keys() & now.keys())
        if was.keys() != now.keys():
            one = aside.pop(k)
            assert (one.baseline_queries, one.candidate_queries, one.both) == (len(was), len(now), len(both))
            assert str(k) not in comparison.metrics.session.recall_all
            rows = one.paired
            assert set(rows) == (set(AT_CUT_OFF) if both else set())
        else:
            rows = {name: getattr(comparison.metrics.session, name)[str(k)] for name in AT_CUT_OFF} if was else {}
        for metric, row in rows.items():
            assert row.queries == len(both)
            assert row.baseline == pytest.approx(mean(metric, [was[query] for query in both], k))
            assert row.candidate == pytest.approx(mean(metric, [now[query] for query in both], k))
            assert row.delta == row.candidate - row.baseline
    assert aside == {}


def test_one_query_that_brings_back_less_sets_its_cut_offs_aside_and_no_other(clean):
    assert all(query.session_observed >= 5 for query in clean.queries)
    query = clean.queries[0]
    less = with_ranks(clean, {query.id: short(query, 3)})
    comparison = compare(clean, less)
    check(clean, less, comparison)
    assert {one.cut_off for one in comparison.set_aside} >= {5}
    assert comparison.metrics is not None
    assert set(comparison.metrics.session.recall_all) == {"1", "3"}
    assert comparison.metrics.turn is not None
    assert "5" in comparison.metrics.turn.recall_all
    assert "1 count in the baseline alone, 0 in the candidate alone" in comparison.set_aside[0].reason
    assert "is over other queries at session level (1 no longer count" in comparison.rule
    assert comparison.verdict == "regressed"


def test_what_one_side_observed_alone_has_no_pair(clean):
    less = with_ranks(clean, {query.id: short(query, 4) for query in clean.queries})
    comparison = compare(less, clean)
    check(less, clean, comparison)
    assert {one.cut_off: one.paired for one in comparison.set_aside}[5] == {}


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_populations_are_compared_where_equal_and_paired_where_not(data, clean):
    sides = []
    for _ in range(2):
        lengths = data.draw(st.dictionaries(st.sampled_from(range(len(clean.queries))), st.integers(0, 8), max_size=4))
        changes = {clean.queries[place].id: short(clean.queries[place], length) for place, length in lengths.items()}
        sides.append(with_ranks(clean, changes))
    check(sides[0], sides[1], compare(*sides))


def test_a_category_is_set_aside_by_itself(clean):
    query = clean.queries[0]
    comparison = compare(clean, with_ranks(clean, {query.id: short(query, 3)}))
    for category in comparison.by_category:
        assert any(one.cut_off == 5 for one in category.set_aside) == (category.number == query.category)
        assert category.queries == sum(one.category == category.number for one in clean.queries)


def test_the_queries_gained_and_lost_are_those_of_the_headline_among_both(clean):
    lost, gained, gone = [query for query in clean.queries if recalled(query)][:3]
    before = with_ranks(clean, {gained.id: {"session_ranks": [None] * len(gained.session_ranks)}})
    changes = {
        lost.id: {"session_ranks": [None] * len(lost.session_ranks)},
        gained.id: {"session_ranks": list(range(1, len(gained.session_ranks) + 1))},
        gone.id: short(gone, 3),
    }
    comparison = compare(before, with_ranks(clean, changes), questions={lost.id: "Where?", gained.id: ""})
    session = comparison.flips[0]
    assert (session.level, session.cut_off, session.queries) == ("session", 5, len(clean.queries) - 1)
    assert [one.id for one in session.gained] == [gained.id]
    assert [one.id for one in session.lost] == [lost.id]
    (flip,) = session.gained
    assert (flip.gold, flip.question) == (gained.gold_sessions, None)
    assert flip.baseline_ranks == [None] * len(gained.session_ranks)
    assert flip.candidate_ranks == list(range(1, len(gained.session_ranks) + 1))
    assert session.lost[0].question == "Where?"


def recalled(query: QueryRanks) -> bool:
    return all(rank is not None and rank <= 5 for rank in query.session_ranks)
