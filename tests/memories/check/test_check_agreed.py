"""What one rule has seen, no other may deny."""

from membench.memories.check.report import Result
from membench.memories.check.run import agreed


def result(name, holds, reason="So."):
    return Result(name=name, title=name, holds=holds, reason=reason, example=None)


def test_a_rule_that_another_one_has_seen_broken_does_not_hold():
    seen = result("receipts", None, "Hits name what was never written: see the rule `ids`.")
    ids, receipts = agreed([result("ids", True), seen])
    assert (ids.holds, ids.reason) == (False, "Hits name what was never written; the rule `receipts` came upon it.")
    assert receipts == seen


def test_what_is_broken_or_not_judged_stays_as_it_is():
    results = [result("ids", False), result("limit", True), result("as_of", None, "No: see the rule `ids`.")]
    assert agreed(results) == results
