"""The rules in their order, and one judgement over them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from membench.errors import MembenchError
from membench.memories.check import closing, dates, identity, isolation, naming, ranking, receipts, repeating, unusual
from membench.memories.check.bench import Bench, Broken, NotJudged
from membench.memories.check.hits import printable
from membench.memories.check.report import Example, Result
from membench.memories.check.storing import Storing, fresh
from membench.memories.protocol import Memory

_MOST_SECONDS_LOST = 150.0


@dataclass(frozen=True, slots=True)
class Rule:
    """``judge`` gives the reason why the rule holds, or raises Broken or NotJudged."""

    name: str
    title: str
    judge: Callable[[Bench], str]


def rules() -> list[Rule]:
    """All of them; each opens pools of its own. Some use what an earlier one saw."""
    storing = Storing()
    return [
        Rule("describe", "It describes itself, always in the same way", identity.describe),
        Rule("fresh", "A pool just opened is empty", fresh),
        Rule("visible", "What was written is there for the next search", storing.visible),
        Rule("found", "What was written is found by its own text", storing.found),
        Rule("receipts", "Receipts say what became of each unit", receipts.receipts),
        Rule("ids", "Hits name what was written, each once", naming.ids),
        Rule("limit", "A search gives no more hits than asked for", ranking.limit),
        Rule("scores", "Scores are finite and fall", ranking.scores),
        Rule("order", "The order of the hits depends on the query", ranking.order),
        Rule("isolated", "A pool knows nothing of another", isolation.isolated),
        Rule("unicode", "Text in any script is taken, or refused with a reason", unusual.unicode),
        Rule("queries", "Empty and long queries are answered", unusual.queries),
        Rule("repeatable", "The same search gives the same list", repeating.repeatable),
        Rule("as_of", "The date of a search counts where it says so", dates.as_of),
        Rule("concurrent", "Searches at a time give what they give alone", repeating.concurrent),
        Rule("errors", "An error is an error, and not an empty list", closing.errors),
        Rule("close", "Closing a pool leaves nothing behind", closing.close),
    ]


def judged(bench: Bench, revive: Callable[[], Memory]) -> Iterator[Result]:
    """The result of each rule, as soon as it is there.

    ``revive`` gives a new memory in the place of one that has died of a call. Raises UsageError for a memory that may
    not be written to.
    """
    no_more: str | None = None
    for rule in rules():
        if no_more is not None:
            yield Result(name=rule.name, title=rule.title, holds=None, reason=printable(no_more), example=None)
            continue
        result = _judged(rule, bench)
        yield result
        no_more = _end(bench, revive) if result.holds is False else None


def _end(bench: Bench, revive: Callable[[], Memory]) -> str | None:
    """After a broken rule: why no other is judged, None where they are."""
    if bench.seconds_lost > _MOST_SECONDS_LOST:
        return f"Calls that failed have taken {bench.seconds_lost:.0f} s: no more are made."
    if bench.description is None:
        # It may be one that keeps what is written.
        return None if bench.allow_persistent else "It does not say that it is ephemeral: nothing is written to it."
    try:
        bench.call("describe()", bench.memory.describe)
    except Broken:
        try:
            bench.memory = revive()
        except MembenchError as error:
            return f"It stopped answering, and could not be started again: {error.what}"
    return None


def _judged(rule: Rule, bench: Bench) -> Result:
    holds: bool | None
    example: Example | None = None
    try:
        holds, reason = True, rule.judge(bench)
    except NotJudged as open_question:
        holds, reason = None, str(open_question)
    except Broken as broken:
        holds, reason, example = False, broken.reason, broken.example
    return Result(name=rule.name, title=rule.title, holds=holds, reason=printable(reason), example=example)
