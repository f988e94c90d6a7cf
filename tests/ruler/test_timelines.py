"""Which time a unit and a search are given on each timeline. The undated third session has a time on `now` alone."""

from datetime import datetime

import pytest
from ruled import measure

from membench.errors import UsageError
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent

OLD, NEWEST = datetime(2024, 1, 1, 10), datetime(2024, 3, 1, 10)
GIVEN = datetime(2025, 6, 7)
OWN_DATES = [OLD, OLD, NEWEST, None]


@pytest.mark.parametrize(
    ("timeline", "times", "searched"),
    [
        ("now", [NEWEST] * 4, [NEWEST, NEWEST]),
        ("anchored", OWN_DATES, [NEWEST, NEWEST]),
        ("literal", OWN_DATES, [GIVEN, GIVEN]),
        ("asked", OWN_DATES, [datetime(2024, 4, 1, 9), datetime(2024, 5, 1, 9)]),
    ],
)
def test_the_times_that_a_memory_is_given(timeline, times, searched, corpus, memory_that):
    memory = memory_that()
    (result,) = measure(corpus, [Arm(memory, timeline, as_of=GIVEN)], None, Silent())
    assert [unit.time for unit in memory.units] == times
    assert memory.searches == [("q1?", 20, searched[0]), ("q2?", 20, searched[1])]
    assert result.accounting.undated_units == times.count(None)
    assert result.accounting.widest_span_days == 60


def test_the_newest_session_is_one_that_has_turns(corpus_of, document, memory_that):
    document["instances"][0]["sessions"][1]["turns"] = []
    memory = memory_that()
    measure(corpus_of(document), [Arm(memory, "anchored")], None, Silent())
    assert [as_of for _, _, as_of in memory.searches] == [OLD, OLD]


def test_without_any_date_nothing_is_given(corpus_of, document, memory_that):
    for session in document["instances"][0]["sessions"]:
        session["date"] = None
    memory = memory_that()
    (result,) = measure(corpus_of(document), [Arm(memory, "now")], None, Silent())
    assert {unit.time for unit in memory.units} == {None}
    assert {as_of for _, _, as_of in memory.searches} == {None}
    assert result.accounting.widest_span_days == 0


@pytest.mark.parametrize("timeline", ["anchored", "literal", "asked"])
def test_a_timeline_of_dates_wants_some(corpus_of, document, memory_that, timeline):
    for session in document["instances"][0]["sessions"]:
        session["date"] = "last Tuesday"
    memory = memory_that()
    with pytest.raises(UsageError, match=f"--timeline {timeline} needs dates"):
        measure(corpus_of(document), [Arm(memory, timeline, as_of=datetime(2024, 1, 1))], None, Silent())
    assert memory.pools == []


def test_literal_wants_a_date(corpus, memory_that):
    memory = memory_that()
    with pytest.raises(UsageError, match="--timeline literal needs a date"):
        measure(corpus, [Arm(memory), Arm(memory, "literal")], None, Silent())
    assert memory.pools == []


def test_asked_wants_the_date_of_every_scored_query(corpus_of, document, memory_that):
    del document["instances"][0]["queries"][1]["asked"]
    memory = memory_that()
    with pytest.raises(UsageError, match="own has none that can be read for query q2"):
        measure(corpus_of(document), [Arm(memory), Arm(memory, "asked")], None, Silent())
    assert memory.pools == []


def test_asked_wants_no_date_of_a_query_that_is_not_scored(corpus, memory_that):
    measure(corpus, [Arm(memory_that(), "asked")], None, Silent())


def test_a_stored_time_never_depends_on_the_arm_beside_it(corpus, memory_that):
    alone, beside = memory_that(), memory_that()
    measure(corpus, [Arm(alone, "anchored")], None, Silent())
    measure(corpus, [Arm(memory_that(), "now"), Arm(beside, "anchored"), Arm(memory_that(), "asked")], None, Silent())
    assert (beside.units, beside.searches) == (alone.units, alone.searches)
