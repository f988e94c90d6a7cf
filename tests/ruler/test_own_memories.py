"""What the ruler does for a memory of which nothing is known but what it says."""

import itertools
import threading
import time

import pytest
from ruled import measure

from membench.embedding.choice import EmbedderChoice
from membench.errors import MemoryCallError
from membench.memories.protocol import Description, Hit, Receipt
from membench.reports.build import head_of, measurement_of
from membench.reports.provenance import calls_of
from membench.ruler.arm import Arm
from membench.ruler.latency import Latency
from membench.ruler.observer import Silent


def own(**said):
    return lambda: Description("scripted", "1", "none", own=True, **said)


def measured(corpus, memory):
    (result,) = measure(corpus, [Arm(memory)], None, Silent())
    return result


def reported(corpus, result):
    return measurement_of(head_of(corpus, result.arm, result.memory, None, EmbedderChoice()), result.parts)


def in_order(units, query):
    return [Hit(-float(place), unit.id) for place, unit in enumerate(units)]


def turning():
    """Every search begins one place further on."""
    turns = itertools.count()

    def searching(units, query):
        by = next(turns) % len(units)
        return [Hit(-float(place), unit.id) for place, unit in enumerate([*units[by:], *units[:by]])]

    return searching


def test_a_memory_whose_repeated_searches_differ_is_noisy(corpus, memory_that):
    assert measured(corpus, memory_that(describing=own(), searching=turning())).noisy
    assert not measured(corpus, memory_that(describing=own())).noisy
    found = reported(corpus, measured(corpus, memory_that(describing=own(), searching=turning())))
    assert found.memory.noisy
    assert found.status == "clean"


def test_a_memory_that_is_built_otherwise_the_second_time_is_noisy(corpus, memory_that):
    def built_at_random():
        built = []

        def searching(units, query):
            if units[0].id not in built:
                built.append(units[0].id)
            by = built.index(units[0].id)
            return [Hit(-float(place), unit.id) for place, unit in enumerate([*units[by:], *units[:by]])]

        return searching

    assert measured(corpus, memory_that(describing=own(), searching=built_at_random())).noisy
    assert not measured(corpus, memory_that(searching=built_at_random())).noisy


def test_the_repeated_searches_are_in_no_figure(corpus, memory_that):
    memory = memory_that(describing=own())
    result = measured(corpus, memory)
    assert (result.accounting.searches, len(result.queries), len(result.timed.searches.seconds)) == (2, 2, 2)
    assert (result.accounting.attempted, len(result.timed.writes.seconds)) == (4, 1)
    assert len(memory.searches) == 6
    assert memory.pools == ["p1", "p0"]
    assert len({unit.id for unit in memory.units}) == len(memory.units) == 8
    assert memory.closed == 2


def test_a_memory_of_ours_is_asked_once(corpus, memory_that):
    memory = memory_that()
    measured(corpus, memory)
    assert len(memory.searches) == 2


@pytest.mark.parametrize(("name", "foreign"), [("p2u1", 1), ("p11u1", 1), ("p1u99", 0), ("nobody", 0), ("xp2u1", 0)])
def test_a_hit_from_another_pool_is_counted_and_makes_the_measurement_unclean(corpus, memory_that, name, foreign):
    searching = lambda units, query: [Hit(2.0, name), *in_order(units, query)]  # noqa: E731
    result = measured(corpus, memory_that(searching=searching))
    counts = result.accounting
    assert (counts.foreign_hits, counts.unattributed_hits) == (2 * foreign, 2)
    found = reported(corpus, result)
    assert found.status == ("unclean" if foreign else "clean")
    assert any("another pool" in reason for reason in found.reasons) == bool(foreign)


def test_a_unit_that_was_refused_and_comes_back_is_no_unit_of_another_pool(corpus, memory_that):
    writing = lambda units: [Receipt("refused", "no"), *(Receipt("stored") for _ in units[1:])]  # noqa: E731
    counts = measured(corpus, memory_that(writing=writing)).accounting
    assert (counts.foreign_hits, counts.unattributed_hits) == (0, 2)


def test_as_many_searches_as_the_memory_takes_are_asked_at_a_time_and_the_figures_are_the_same(corpus, memory_that):
    together = threading.Barrier(2, timeout=10)

    def searching(units, query):
        together.wait()
        # The first that was asked answers last.
        time.sleep(0.05 if query.startswith("q1") else 0.0)
        return in_order(units, query)

    result = measured(
        corpus, memory_that(describing=lambda: Description("s", "1", "none", concurrency=2), searching=searching)
    )
    assert result.queries == measured(corpus, memory_that()).queries


def test_one_of_several_searches_that_fails_ends_the_run(corpus, memory_that):
    def searching(units, query):
        raise ValueError("no")

    describing = lambda: Description("s", "1", "none", concurrency=4)  # noqa: E731
    with pytest.raises(MemoryCallError, match="searching for query"):
        measured(corpus, memory_that(describing=describing, searching=searching))


def test_the_latency_of_calls_is_told_in_quantiles():
    latency = Latency()
    for number in range(1, 101):
        latency.add(number / 1000, 2)
    found = calls_of(latency)
    assert (found.calls, found.items) == (100, 200)
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == (50.5, 95.05, 99.01)
    assert found.per_second == pytest.approx(200 / 5.05, abs=0.05)
    assert calls_of(Latency()) is None
