"""The rank metrics, against their literal definitions and against the reference implementation of trec_eval."""

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from membench.metrics.rank import AT_CUT_OFF, ndcg, recall_all, recall_any, recall_micro, reciprocal_rank

ITEMS = [f"d{number}" for number in range(30)]


@st.composite
def rankings(draw):
    """A ranked list of distinct items and a gold set, of which some may not be in the list."""
    ranked = draw(st.lists(st.sampled_from(ITEMS), unique=True, max_size=25))
    gold = draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1, max_size=6))
    return ranked, gold


def ranks_of(ranked, gold):
    return [ranked.index(item) + 1 if item in ranked else None for item in gold]


def reference(measure, ranked, gold):
    judged = [ir_measures.Qrel("q", item, 1) for item in gold]
    run = [ir_measures.ScoredDoc("q", item, float(-place)) for place, item in enumerate(ranked)]
    # trec_eval knows no query without a result; one that is not gold stands for it.
    return ir_measures.calc_aggregate([measure], judged, run or [ir_measures.ScoredDoc("q", "none", 0.0)])[measure]


@settings(max_examples=150, deadline=None)
@given(rankings(), st.integers(1, 22))
def test_they_agree_with_trec_eval(drawn, k):
    ranked, gold = drawn
    ranks = ranks_of(ranked, gold)
    assert recall_micro(ranks, k) == pytest.approx(reference(R @ k, ranked, gold))
    assert recall_any(ranks, k) == reference(Success @ k, ranked, gold)
    assert ndcg(ranks, k) == pytest.approx(reference(nDCG @ k, ranked, gold))
    assert reciprocal_rank(ranks) == pytest.approx(reference(RR, ranked, gold))


@given(rankings(), st.integers(1, 22))
def test_recall_all_and_any_are_what_the_definition_says(drawn, k):
    ranked, gold = drawn
    ranks = ranks_of(ranked, gold)
    assert recall_all(ranks, k) == float(set(gold) <= set(ranked[:k]))
    assert recall_any(ranks, k) == float(bool(set(gold) & set(ranked[:k])))


@given(rankings(), st.integers(1, 21))
def test_they_lie_in_order_between_0_and_1_and_recall_never_falls_with_k(drawn, k):
    ranks = ranks_of(*drawn)
    assert 0.0 <= recall_all(ranks, k) <= recall_micro(ranks, k) <= recall_any(ranks, k) <= 1.0
    assert 0.0 <= ndcg(ranks, k) <= 1.0 + 1e-12
    for metric in (recall_all, recall_any, recall_micro):
        assert metric(ranks, k) <= metric(ranks, k + 1)


@pytest.mark.parametrize("ranks", [(1,), (1, 2), (2, 1, 3)])
def test_a_perfect_ranking_is_exactly_one(ranks):
    for metric in AT_CUT_OFF.values():
        assert metric(ranks, 3) == 1.0
    assert reciprocal_rank(ranks) == 1.0


def test_nothing_found_is_zero():
    for metric in AT_CUT_OFF.values():
        assert metric((None, None), 20) == 0.0
    assert reciprocal_rank((None, None)) == 0.0


def test_gold_past_the_cut_off_does_not_count():
    assert recall_all((1, 6), 5) == 0.0
    assert recall_micro((1, 6), 5) == 0.5
    assert recall_all((1, 5), 5) == 1.0


def test_the_headline_stands_first():
    assert next(iter(AT_CUT_OFF)) == "recall_all"
