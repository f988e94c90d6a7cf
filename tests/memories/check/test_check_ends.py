"""What a check does where a memory gives nothing to judge: nothing is claimed, nothing is written, and it ends."""

import pytest
from broken import AnswersRubbish, FailsToDescribe, FailsToOpen, RanksItselfOutOfSight, RefusesEverything
from good import GOOD, Good, GoodStore, Raising, lexical, memory_of

from membench.errors import MemoryCallError, UsageError
from membench.memories.check import rules as rules_module
from membench.memories.check.surroundings import own_temporary_folder
from membench.memories.protocol import Hit


def names(results, holds):
    return [name for name, result in results.items() if result.holds is holds]


def test_a_memory_that_stores_nothing_is_told_once_and_not_judged_by_the_rest(judge):
    results = judge(memory_of(RefusesEverything))
    assert names(results, False) == ["found"]
    assert names(results, True) == ["describe", "fresh", "unicode"]
    assert "None of 12 plain sentences was stored" in results["found"].reason
    assert results["found"].example.answer == "refused: full"


def test_a_text_that_is_not_among_the_hits_for_itself_is_not_found(judge):
    results = judge(memory_of(RanksItselfOutOfSight))
    assert results["found"].holds is False
    assert "was stored and is not among the hits for its own text" in results["found"].reason
    assert results["order"].holds is None


def test_a_memory_without_any_hits_passes_no_rule_about_hits(judge):
    class Silent(GoodStore):
        def search(self, query, limit, as_of):
            return []

    results = judge(memory_of(Silent))
    assert "found" in names(results, False)
    for rule in ("visible", "ids", "limit", "scores", "order", "repeatable"):
        assert results[rule].holds is not True, rule


def test_calls_that_fail_are_told_by_every_rule_that_makes_them(judge):
    results = judge(FailsToOpen())
    assert names(results, True) == ["describe"]
    for name in names(results, False):
        assert results[name].reason.endswith("failed: ConnectionError: no database")
        assert results[name].example.answer == "ConnectionError: no database"
    assert names(results, None) == ["concurrent"]


def test_an_answer_that_is_no_hit_is_told(judge):
    results = judge(memory_of(AnswersRubbish))
    assert "expected hits, found 'a'" in results["found"].reason


# A memory that does not say that it is ephemeral.


def test_nothing_is_written_to_a_memory_that_does_not_describe_itself(judge):
    memory = FailsToDescribe()
    results = judge(memory)
    assert names(results, False) == ["describe"]
    assert "RuntimeError: no idea" in results["describe"].reason
    assert all("nothing is written to it" in results[name].reason for name in names(results, None))
    assert memory.stores == []


def test_it_is_judged_where_that_was_allowed(judge):
    results = judge(FailsToDescribe(), allow_persistent=True)
    assert names(results, False) == ["describe"]
    assert names(results, None) == ["as_of", "concurrent", "close"]


def test_nothing_is_written_to_one_that_may_keep_it(judge):
    memory = memory_of(GoodStore, ephemeral=False)
    with pytest.raises(UsageError, match="does not say that it is ephemeral"):
        judge(memory)
    assert memory.stores == []


def test_one_that_may_keep_it_and_was_allowed_is_not_asked_to_forget(judge):
    results = judge(memory_of(GoodStore, ephemeral=False), allow_persistent=True)
    assert names(results, False) == []
    assert "may stay" in results["close"].reason
    assert results["close"].holds is None


# A closed pool.


class EmptyOnceClosed(Raising):
    """Raises at a write alone."""

    def search(self, query, limit, as_of):
        return GoodStore.search(self, query, limit, as_of)


class TakesWritesOnceClosed(Raising):
    def write(self, units):
        return GoodStore.write(self, units)


@pytest.mark.parametrize("kind", ["command", "http"])
@pytest.mark.parametrize(
    ("store", "told"),
    [(EmptyOnceClosed, "gave an empty list: expected an error"), (TakesWritesOnceClosed, "write to a closed pool")],
)
def test_a_process_or_a_service_has_to_fail_for_a_pool_that_is_not_open(kind, store, told, judge):
    results = judge(memory_of(store), kind=kind)
    assert names(results, False) == ["errors"]
    assert told in results["errors"].reason
    assert judge(memory_of(store))["errors"].holds is True
    assert judge(memory_of(Raising), kind=kind)["errors"].holds is True


# A memory that dies of a call.


class Dying(Good):
    """After a NUL nothing answers any more."""

    class Store(GoodStore):
        def write_one(self, unit):
            self.memory.dead |= "\0" in unit.text
            self.memory.check()
            return super().write_one(unit)

        def search(self, query, limit, as_of):
            self.memory.check()
            return super().search(query, limit, as_of)

        def close(self):
            self.memory.check()
            super().close()

    dead = False

    def check(self):
        if self.dead:
            raise MemoryCallError("its process ended by signal 11")

    def describe(self):
        self.check()
        return self.description

    def open(self, pool):
        self.check()
        return super().open(pool)


def test_one_that_dies_is_started_again_for_the_other_rules(judge):
    results = judge(Dying(), revive=Dying)
    assert names(results, False) == ["unicode"]
    assert "With a NUL character: " in results["unicode"].reason
    assert results["unicode"].reason.endswith("its process ended by signal 11")
    assert names(results, None) == ["concurrent"]


def test_the_rules_after_it_are_open_where_it_cannot_be_started_again(judge):
    def revive():
        raise MemoryCallError("no such command")

    results = judge(Dying(), revive=revive)
    assert names(results, False) == ["unicode"]
    open_ones = names(results, None)
    assert open_ones == list(results)[list(results).index("unicode") + 1 :]
    assert all(results[name].reason.endswith("could not be started again: no such command") for name in open_ones)


def test_a_check_ends_where_failing_calls_take_long(judge, monkeypatch):
    class Hanging(GoodStore):
        def search(self, query, limit, as_of):
            import time

            time.sleep(0.05)
            raise TimeoutError("too slow")

    monkeypatch.setattr(rules_module, "_MOST_SECONDS_LOST", 0.12)
    results = judge(memory_of(Hanging))
    assert names(results, False) == ["fresh", "visible"]
    assert "no more are made" in results["close"].reason


# What is shown.


def test_reasons_are_in_what_utf_8_can_write(judge):
    class Odd(GoodStore):
        def search(self, query, limit, as_of):
            raise ValueError("half a pair \ud83d")

    result = judge(memory_of(Odd))["found"]
    assert result.reason.endswith("half a pair \\ud83d")
    assert result.model_dump_json()


def test_an_example_shows_the_call_and_the_answer(judge):
    class One(GoodStore):
        def search(self, query, limit, as_of):
            return [Hit(1.0, unit.id) for unit in self.units]

    example = judge(memory_of(One))["limit"].example
    assert example.call == 'search("Astronomers photographed seven moons orbiting Saturn", limit=1)'
    assert example.answer.startswith('24 hits: "p')
    assert example.answer.endswith(", ...")


def test_the_temporary_folder_is_the_usual_one_again_and_nothing_is_left(judge, tmp_path, monkeypatch):
    import os
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with own_temporary_folder() as folder:
        assert folder.parent == tmp_path
        assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(folder)
        (folder / "left").write_text("")
    assert list(tmp_path.iterdir()) == []
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(tmp_path)


def test_sparse_results_are_enough_to_judge_by(judge):
    assert names(judge(memory_of(lexical(GOOD["refusing"]().Store))), False) == []
