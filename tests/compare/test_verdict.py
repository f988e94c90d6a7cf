"""One word for a comparison: from the signs at both levels, and never `unchanged` for a difference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remeasured import with_ranks

from membench.compare.compare import compare, run_comparison
from membench.compare.verdict import judged
from membench.errors import UsageError
from membench.reports.comparison import Delta, Headline, LevelDeltas, MetricDeltas, SetAside
from membench.reports.loading import OtherSchema

HEADLINE = Headline(metric="recall_all", cut_off=5)
TINY = 1e-12
OTHER = OtherSchema("membench.measurement/2", "newer")

# By what session and turn level say: the sign of a delta over equal queries; None where no query counts; or, set aside,
# how many queries no longer count, how many newly do, and the sign over those that both observed.
RISES, FALLS, EQUAL, NOTHING = 1, -1, 0, None
TABLE = {
    (RISES, RISES): "improved",
    (RISES, EQUAL): "improved",
    (FALLS, FALLS): "regressed",
    (EQUAL, FALLS): "regressed",
    (RISES, FALLS): "mixed",
    (EQUAL, EQUAL): "unchanged",
    (NOTHING, RISES): "improved",
    (NOTHING, EQUAL): "unchanged",
    (NOTHING, FALLS): "regressed",
    (NOTHING, NOTHING): "not comparable",
    # A memory that brings back less has not improved, whatever the figures over the rest say.
    ((60, 0, RISES), RISES): "mixed",
    ((60, 0, RISES), EQUAL): "mixed",
    ((60, 0, EQUAL), EQUAL): "regressed",
    ((60, 0, EQUAL), NOTHING): "regressed",
    ((60, 0, NOTHING), RISES): "mixed",
    ((60, 0, FALLS), FALLS): "regressed",
    ((0, 3, EQUAL), EQUAL): "improved",
    ((0, 3, FALLS), EQUAL): "mixed",
    ((0, 3, RISES), RISES): "improved",
    ((60, 3, EQUAL), EQUAL): "mixed",
}


def delta_of(sign: int, size: float) -> Delta:
    return Delta(baseline=0.5, candidate=0.5, delta=sign * size, queries=9, population="p")


def level(says, size: float) -> LevelDeltas:
    row = {"5": delta_of(says, size)} if isinstance(says, int) else {}
    return LevelDeltas(recall_all=row, recall_any={}, recall_micro={}, ndcg={}, mrr=None)


def aside(name, says, size: float) -> list[SetAside]:
    if not isinstance(says, tuple):
        return []
    gone, new, sign = says
    both = 0 if sign is None else 9
    return [
        SetAside(
            level=name,
            cut_off=5,
            reason="other queries",
            baseline_queries=both + gone,
            candidate_queries=both + new,
            both=both,
            paired={} if sign is None else {"recall_all": delta_of(sign, size)},
        )
    ]


@pytest.mark.parametrize("size", [0.1, TINY])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("says", TABLE)
def test_the_levels_make_the_verdict_and_the_rule_names_them(says, turned, size):
    session, turn = reversed(says) if turned else says
    metrics = MetricDeltas(session=level(session, size), turn=level(turn, size))
    found = judged(metrics, [*aside("session", session, size), *aside("turn", turn, size)], HEADLINE)
    assert found.verdict == TABLE[says]
    words = {RISES: "rose at ", FALLS: "fell at ", EQUAL: "is exactly equal at "}
    for name, one in (("session", session), ("turn", turn)):
        if isinstance(one, tuple):
            assert f"is over other queries at {name} level" in found.rule
            assert ("60 no longer count" in found.rule) == (one[0] == 60)
            assert ("3 newly count" in found.rule) == (one[1] == 3)
        elif one is not NOTHING:
            assert words[one] in found.rule
            assert name in found.rule


@pytest.mark.parametrize(
    ("sign", "verdict"), [(1, "improved"), (0, "unchanged"), (-1, "regressed"), (None, "not comparable")]
)
def test_without_a_turn_level_the_session_level_decides(sign, verdict):
    found = judged(MetricDeltas(session=level(sign, 0.1), turn=None), [], HEADLINE)
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
def test_a_run_goes_where_all_of_its_arms_that_moved_go_and_nothing_unknown_is_good(words):
    one = compare(None, OTHER)
    run = run_comparison([one.model_copy(update={"verdict": word}) for word in words])
    given = set(words)
    if "mixed" in given or {"improved", "regressed"} <= given:
        assert run.verdict == "mixed"
    elif "regressed" in given:
        assert run.verdict == "regressed"
    elif "not comparable" in given:
        assert run.verdict == "not comparable"
    else:
        assert run.verdict == ("improved" if "improved" in given else "unchanged")
    assert all(f"{words.count(word)} {word}" in run.rule for word in words)
