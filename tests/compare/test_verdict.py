"""One word for a comparison: from the signs at both levels, and never `unchanged` for a difference."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remeasured import with_ranks

from membench.compare.compare import compare, run_comparison
from membench.compare.verdict import judged
from membench.errors import UsageError
from membench.reports.comparison import Delta, Headline, LevelDeltas, MetricDeltas
from membench.reports.loading import OtherSchema

HEADLINE = Headline(metric="recall_all", cut_off=5)
TINY = 1e-12
OTHER = OtherSchema("membench.measurement/2", "newer")

# By the sign at session level and at turn level; None is a level that is set aside.
TABLE = {
    (1, 1): "improved",
    (1, 0): "improved",
    (0, 1): "improved",
    (-1, -1): "regressed",
    (-1, 0): "regressed",
    (0, -1): "regressed",
    (1, -1): "mixed",
    (-1, 1): "mixed",
    (0, 0): "unchanged",
    (None, 1): "improved",
    (None, 0): "unchanged",
    (None, -1): "regressed",
    (1, None): "improved",
    (0, None): "unchanged",
    (-1, None): "regressed",
    (None, None): "not comparable",
}


def level(sign: int | None, size: float) -> LevelDeltas:
    delta = Delta(baseline=0.5, candidate=0.5, delta=(sign or 0) * size, queries=9, population="p")
    return LevelDeltas(
        recall_all={} if sign is None else {"5": delta}, recall_any={}, recall_micro={}, ndcg={}, mrr=None
    )


def test_the_table_is_whole():
    assert set(TABLE) == set(itertools.product((1, 0, -1, None), repeat=2))


@pytest.mark.parametrize("size", [0.1, TINY])
@pytest.mark.parametrize("signs", TABLE)
def test_the_signs_make_the_verdict_and_the_rule_names_them(signs, size):
    found = judged(MetricDeltas(session=level(signs[0], size), turn=level(signs[1], size)), HEADLINE)
    assert found.verdict == TABLE[signs]
    for name, sign in zip(("session", "turn"), signs, strict=True):
        words = {1: f"rose at {name} level", -1: f"fell at {name} level", 0: "exactly equal at", None: "set aside"}
        assert words[sign] in found.rule
        assert name in found.rule


@pytest.mark.parametrize(
    ("sign", "verdict"), [(1, "improved"), (0, "unchanged"), (-1, "regressed"), (None, "not comparable")]
)
def test_without_a_turn_level_the_session_level_decides(sign, verdict):
    found = judged(MetricDeltas(session=level(sign, 0.1), turn=None), HEADLINE)
    assert found.verdict == verdict
    assert "turn" not in found.rule


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_one_query_is_never_unchanged(data, clean):
    """Whichever query it is: its gold is found where it was not, or lost where it was."""
    query = data.draw(st.sampled_from(clean.queries))
    was_found = all(rank is not None and rank <= 5 for rank in query.session_ranks)
    ranks = [None for _ in query.session_ranks] if was_found else list(range(1, len(query.session_ranks) + 1))
    comparison = compare(clean, with_ranks(clean, {query.id: {"session_ranks": ranks}}))
    assert comparison.verdict == ("regressed" if was_found else "improved")
    assert comparison.metrics is not None
    delta = comparison.metrics.session.recall_all["5"]
    assert round(delta.delta * delta.queries) == (-1 if was_found else 1)
    assert not comparison.identical


def test_a_query_gained_for_a_query_lost_is_exactly_zero_and_both_are_named(clean):
    found = [q for q in clean.queries if len(q.session_ranks) == 1 and (q.session_ranks[0] or 99) <= 5]
    missed = [q for q in clean.queries if len(q.session_ranks) == 1 and (q.session_ranks[0] or 99) > 5]
    changes = {found[0].id: {"session_ranks": [None]}, missed[0].id: {"session_ranks": [1]}}
    comparison = compare(clean, with_ranks(clean, changes))
    assert comparison.metrics is not None
    assert comparison.metrics.session.recall_all["5"].delta == 0
    assert (comparison.verdict, comparison.identical) == ("unchanged", False)
    session = comparison.flips[0]
    assert [one.id for one in session.lost] == [found[0].id]
    assert [one.id for one in session.gained] == [missed[0].id]


def test_other_ranks_that_change_no_figure_of_the_headline_are_unchanged_and_not_identical(clean):
    query = next(q for q in clean.queries if q.session_ranks == [1])
    comparison = compare(clean, with_ranks(clean, {query.id: {"session_ranks": [2]}}))
    assert (comparison.verdict, comparison.identical) == ("unchanged", False)
    assert comparison.metrics is not None
    assert comparison.metrics.session.mrr is not None
    assert comparison.metrics.session.mrr.delta < 0


def test_the_verdict_is_read_at_the_cut_off_that_is_asked_for(clean):
    query = next(q for q in clean.queries if q.session_ranks == [1])
    worse = with_ranks(clean, {query.id: {"session_ranks": [2]}})
    assert compare(clean, worse, 1).verdict == "regressed"
    assert compare(clean, worse, 3).verdict == "unchanged"
    with pytest.raises(UsageError, match="--k 7"):
        compare(clean, worse, 7)


def test_the_headline_falls_to_the_nearest_cut_off_below(clean):
    arm = clean.arm.model_copy(update={"cut_offs": [1, 3, 8]})
    other = clean.model_copy(update={"arm": arm})
    assert compare(other, other).headline.cut_off == 3


WORDS = ["improved", "regressed", "unchanged", "mixed", "not comparable"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_a_run_goes_where_all_of_its_arms_that_moved_go(words):
    one = compare(None, OTHER)
    run = run_comparison([one.model_copy(update={"verdict": word}) for word in words])
    moved = set(words) - {"unchanged", "not comparable"}
    if moved:
        assert run.verdict == (moved.pop() if len(moved) == 1 else "mixed")
    else:
        assert run.verdict == ("unchanged" if "unchanged" in words else "not comparable")
    assert all(f"{words.count(word)} {word}" in run.rule for word in words)
