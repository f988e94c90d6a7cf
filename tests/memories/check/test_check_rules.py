"""Each way to break the contract is caught by the rule that it breaks, and by no other; what keeps it passes."""

import pytest
from broken import BROKEN, LeavesProcesses, LeavesThreads
from good import GOOD

from membench.memories.check.rules import rules

RULES = [rule.name for rule in rules()]


@pytest.fixture(autouse=True)
def ended():
    """What the broken ones start is theirs to leave and ours to end."""
    yield
    LeavesThreads.stop.set()
    for process in LeavesProcesses.started:
        process.kill()
        process.wait()
    LeavesProcesses.started.clear()
    LeavesThreads.stop.clear()


def broken_rules(results):
    return [result.name for result in results.values() if result.holds is False]


@pytest.mark.parametrize("case", GOOD)
def test_what_keeps_the_contract_passes(case, judge):
    results = judge(GOOD[case]())
    assert list(results) == RULES
    assert broken_rules(results) == [], [result for result in results.values() if result.holds is False]
    assert [name for name, result in results.items() if result.holds is None] == (
        [] if case == "several at a time" else ["concurrent"]
    )
    assert all(result.reason and result.example is None for result in results.values())


@pytest.mark.parametrize("case", BROKEN)
def test_what_breaks_it_is_caught_by_its_rule_and_by_no_other(case, judge):
    rule, memory = BROKEN[case]
    results = judge(memory())
    assert broken_rules(results) == [rule], [result for result in results.values() if result.holds is False]
    example = results[rule].example
    assert example.call
    assert example.answer
    assert "Traceback" not in results[rule].reason


def test_every_rule_is_broken_by_some_memory():
    assert {rule for rule, _ in BROKEN.values()} == set(RULES)
