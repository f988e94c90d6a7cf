"""From ranks to figures: who counts at a cut-off, out of how many, and under which fingerprint."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membench.metrics.aggregate import Observed, figures, fingerprint
from membench.metrics.rank import AT_CUT_OFF, reciprocal_rank

CUT_OFFS = (1, 3, 5, 8, 10, 20)


@st.composite
def observations(draw):
    observed = draw(st.lists(st.integers(0, 25), max_size=12))
    made = []
    for number, length in enumerate(observed):
        found = st.integers(1, length) if length else st.none()
        ranks = draw(st.lists(st.none() | found, min_size=1, max_size=4))
        made.append(Observed(f"q{number}", tuple(ranks), length))
    return made


@given(observations())
def test_a_query_counts_only_where_its_list_is_long_enough(queries):
    found = figures(queries, CUT_OFFS)
    for k in CUT_OFFS:
        counted = [query for query in queries if query.observed >= k]
        assert (k in found.unobserved) == (not counted)
        for name, metric in AT_CUT_OFF.items():
            if not counted:
                assert k not in found.at[name]
                continue
            figure = found.at[name][k]
            assert figure.queries == len(counted)
            assert figure.value == pytest.approx(sum(metric(query.ranks, k) for query in counted) / len(counted))
            assert figure.population == fingerprint(query.query for query in counted)


@given(observations())
def test_mrr_is_over_every_query(queries):
    mrr = figures(queries, CUT_OFFS).mrr
    if not queries:
        assert mrr is None
        return
    assert mrr.queries == len(queries)
    assert mrr.value == pytest.approx(sum(reciprocal_rank(query.ranks) for query in queries) / len(queries))
    assert mrr.population == fingerprint(query.query for query in queries)


@given(observations(), st.randoms(use_true_random=False))
def test_the_order_of_queries_moves_nothing(queries, random: Random):
    shuffled = list(queries)
    random.shuffle(shuffled)
    assert figures(shuffled, CUT_OFFS) == figures(queries, CUT_OFFS)


def test_a_list_that_is_exactly_long_enough_counts():
    queries = [Observed("a", (1,), 5), Observed("b", (None,), 4)]
    found = figures(queries, (4, 5, 6))
    assert {k: figure.queries for k, figure in found.at["recall_all"].items()} == {4: 2, 5: 1}
    assert found.at["recall_all"][4].value == 0.5
    assert found.at["recall_all"][5].value == 1.0
    assert found.unobserved == (6,)


def test_no_query_gives_no_figure():
    found = figures([], CUT_OFFS)
    assert found.unobserved == CUT_OFFS
    assert found.mrr is None
    assert found.at == {name: {} for name in AT_CUT_OFF}


def test_a_mean_is_the_correctly_rounded_sum_over_the_count():
    ranks = (1, None, None)
    queries = [Observed(str(number), ranks, 20) for number in range(1_000)]
    assert figures(queries, (20,)).at["recall_micro"][20].value == math.fsum([1 / 3] * 1_000) / 1_000


@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1), unique=True),
    st.data(),
)
def test_the_fingerprint_is_of_the_set(ids, data):
    assert fingerprint(data.draw(st.permutations(ids))) == fingerprint(ids)
    assert len(fingerprint(ids)) == 16
    if ids:
        assert fingerprint(ids[1:]) != fingerprint(ids)
        assert fingerprint([*ids[1:], ids[0] + "x"]) != fingerprint(ids)
