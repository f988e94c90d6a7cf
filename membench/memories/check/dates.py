"""The rule `as_of`: the date of a search has an effect where the memory says so, and none where it does not."""

from datetime import datetime, timedelta

from membench.memories.check.bench import LIMIT, Bench, Broken, NotJudged
from membench.memories.check.hits import shown_hits, shown_search
from membench.memories.check.repeating import differ
from membench.memories.check.texts import FEW

_FIRST = datetime(2021, 3, 1, 10)
_APART = timedelta(days=90)
_EARLY = datetime(2022, 6, 1, 10)
"""Half of the units are older, half are yet to be said."""
_LATE = datetime(2042, 6, 1, 10)


def as_of(bench: Bench) -> str:
    """Searches at two dates twenty years apart."""
    if bench.description is None:
        raise NotJudged("It does not describe itself.")
    changed: tuple[str, str] | None = None
    with bench.pool() as pool:
        pool.fill(FEW, times=[_FIRST + place * _APART for place in range(len(FEW))])
        for query in FEW[::2]:
            early, late = pool.search(query, as_of=_EARLY), pool.search(query, as_of=_LATE)
            if differ(early, pool.search(query, as_of=_EARLY)) or differ(late, pool.search(query, as_of=_LATE)):
                raise NotJudged("Its searches do not repeat: see the rule `repeatable`.")
            if differ(early, late) and changed is None:
                call = f"{shown_search(query, LIMIT, _EARLY)} and at {_LATE.isoformat()}"
                changed = call, f"{shown_hits(early)}; then {shown_hits(late)}"
    declared = bench.description.honours_as_of
    if declared and changed is None:
        raise Broken(
            "It says that it honours as_of, and dates twenty years apart change neither a list nor a score.",
            f"{shown_search(FEW[0], LIMIT, _EARLY)} and at {_LATE.isoformat()}",
            "the same list with the same scores",
        )
    if changed is not None and not declared:
        raise Broken("It does not say that it honours as_of, and the date of a search changes its answer.", *changed)
    return f"Dates twenty years apart {'change its answers' if declared else 'make no difference'}, as it says."
