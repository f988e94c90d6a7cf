"""Each way to break the contract is caught by the rule that it breaks, and by no other; what keeps it passes."""

import pytest
from broken import BROKEN, BlocksTwoAtATime, LeavesProcesses, LeavesThreads
from good import GOOD

from membench.memories.check.rules import rules

RULES = [rule.name for rule in rules()]


@pytest.fixture(autouse=True)
def ended():
    """What the broken ones start is theirs to leave and ours to end."""
    yield
    LeavesThreads.stop.set()
    BlocksTwoAtATime.stop.set()
    for process in LeavesProcesses.started:
        process.kill()
        process.wait()
    LeavesProcesses.started.clear()
    LeavesThreads.stop.clear()
    BlocksTwoAtATime.stop.clear()


# Where one fault has two reasons to be caught, what the first of them says.
TOLD = {
    "another description every time": "otherwise asked again: its settings changed",
    "another description once used": "otherwise once a pool was used: its backend changed",
    "something in a new pool": "in a pool just opened gave 1 hit: ",
    "writes that take their time": "after the write was answered: a write has to return once the next search sees it",
    "one of many lost": "1 of 260 stored units were never found",
    "a receipt too few": "expected 5 receipts, found 4",
    "what is displaced kept": "says displaced since, and it is found",
    "ids of its own": "which was never written",
    "ids cut short": "which was never written",
    "hits given twice": "2 times",
    "insertion order": "have the same first hit",
    "the worst first": "Is the worst first?",
    "pools that are one": "gave what was written to",
    "all pools closed with one": "is not found any more",
    "an error at NUL": "With a NUL character: ",
    "an error for two at a time": "RuntimeError: database is locked",
    "a standstill for two at a time": "there was no answer for 1 s",
    "another's query": "one gave another list than alone",
    "files left behind": "left behind: file tmp",
    "threads left behind": "left behind: thread ",
    "processes left behind": "left behind: process sleep",
}


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
    assert TOLD.get(case, "") in results[rule].reason
    example = results[rule].example
    assert example.call
    assert example.answer
    assert "Traceback" not in results[rule].reason


def test_every_rule_is_broken_by_some_memory():
    assert {rule for rule, _ in BROKEN.values()} == set(RULES)
