"""The rules `limit`, `scores` and `order`."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from membench.memories.check.bench import Bench, Broken, NotJudged
from membench.memories.check.hits import name_of, place_of, quoted, shown_hits, shown_search
from membench.memories.check.texts import FEW, SENTENCES, mixed_queries
from membench.memories.protocol import Hit

_LIMITS = (1, 3, 20, 1000)


def limit(bench: Bench) -> str:
    """No more hits than were asked for, and one where one is asked for and there are some."""
    with bench.pool() as pool:
        pool.fill(SENTENCES)
        answered = False
        for query in (SENTENCES[4], *list(mixed_queries())[:2]):
            counts = []
            for wanted in _LIMITS:
                hits = pool.search(query, wanted)
                counts.append(len(hits))
                if len(hits) > wanted:
                    raise Broken(
                        f"A search for at most {wanted} gave {len(hits)}.",
                        shown_search(query, wanted),
                        shown_hits(hits),
                    )
            answered = answered or any(counts)
            if any(counts) and not counts[0]:
                told = ", ".join(f"{found} for {wanted}" for wanted, found in zip(_LIMITS, counts, strict=True))
                raise Broken("A search for one hit gave none, where there are some.", shown_search(query, 1), told)
    if not answered:
        raise NotJudged("No search gave a hit.")
    return f"Searches for {', '.join(map(str, _LIMITS))} hits gave no more than that."


def scores(bench: Bench) -> str:
    """Finite numbers that never rise from one hit to the next, where there is nothing to diversify."""
    longest = 0
    with bench.pool() as pool:
        pool.fill(SENTENCES)
        for query in mixed_queries():
            hits = pool.search(query)
            longest = max(longest, len(hits))
            if fault := _fault(hits):
                raise Broken(fault, shown_search(query, 20), shown_hits(hits))
    if longest < 2:
        raise NotJudged("No search gave two hits.")
    return f"Scores are finite and never rise among texts that share no word, in lists of up to {longest} hits."


def _fault(hits: Sequence[Hit]) -> str | None:
    for hit in hits:
        if (
            isinstance(hit.score, bool)
            or not isinstance(hit.score, int | float | np.floating)
            or not math.isfinite(hit.score)
        ):
            return f"The score {hit.score!r} is no finite number."
    for place, (one, other) in enumerate(pairwise(hits), start=1):
        if other.score > one.score:
            return (
                f"Hit {place + 1} has a higher score than hit {place}: the best comes first, and the score is what "
                "the hits are ordered by."
            )
    return None


def order(bench: Bench) -> str:
    """What is asked makes a difference: texts stand higher for themselves than in any fixed order."""
    with bench.pool() as pool:
        pool.fill(FEW)
        stored = pool.standing()
        if len(stored) < 3:
            raise NotJudged(f"It stored {len(stored)} of {len(FEW)} sentences: too few to tell one order from another.")
        lists = [pool.search(one.unit.text) for one in stored]
        places = [
            place for one, hits in zip(stored, lists, strict=True) if (place := place_of(one.unit, hits)) is not None
        ]
    if len(places) < len(stored):
        raise NotJudged("Not every text is among the hits for itself: see the rules `found` and `ids`.")
    firsts = {name_of(hits[0]) for hits in lists}
    queries = " and ".join(quoted(one.unit.text) for one in stored[:2])
    if len(firsts) == 1:
        raise Broken(
            f"{len(stored)} different queries have the same first hit: the order says nothing of the query.",
            f"search({queries})",
            f"{shown_hits(lists[0])} and {shown_hits(lists[1])}",
        )
    mean = sum(places) / len(places)
    # Over all texts of a pool, that is the mean place in an order that knows no query.
    blind = (len(stored) + 1) / 2
    if mean >= blind:
        raise Broken(
            f"Texts stand at place {mean:.1f} on average when searched by themselves; in an order that knows nothing "
            f"of the query that is {blind:.1f}. Is the worst first?",
            f"search({queries})",
            f"{shown_hits(lists[0])} and {shown_hits(lists[1])}",
        )
    return f"{len(stored)} queries have {len(firsts)} first hits; for itself, a text is at place {mean:.1f} on average."
