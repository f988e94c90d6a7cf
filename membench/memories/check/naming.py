"""The rule `ids`: hits name what was written, each once."""

from collections import Counter

from membench.memories.check.bench import Bench, Broken, NotJudged, Pool
from membench.memories.check.hits import name_of, quoted, shown_hits, shown_search
from membench.memories.check.texts import FEW, mixed_queries
from membench.memories.protocol import Hit

_NUMBERS = (1, 2, 10, 11, 12, 21, 100, 101, 111, 345, 1000, 12345)
"""Of which one begins as another does, as in a long run."""


def ids(bench: Bench) -> str:
    """Ids, or texts from a memory without them, come back as they were written, and no unit twice in one list."""
    named = 0
    with bench.pool() as pool:
        pool.fill(FEW, numbers=_NUMBERS)
        for query in (*FEW, *list(mixed_queries())[: len(FEW)]):
            hits = pool.search(query)
            named += len(hits)
            if fault := _fault(pool, hits):
                raise Broken(fault, shown_search(query, 20), shown_hits(hits))
    if not named:
        raise NotJudged("No search gave a hit.")
    return f"{named} hits named what was written, such as {pool.written[-1].unit.id}; none came twice in one list."


def _fault(pool: Pool, hits: list[Hit]) -> str | None:
    if any(name_of(hit) is None for hit in hits):
        return "A hit has neither the id of a unit nor a text."
    if strange := pool.strange(hits):
        return f"A hit names {quoted(strange[0])}, which was never written."
    written = Counter(one.unit.text.strip() for one in pool.written)
    by_id = Counter(hit.unit for hit in hits if hit.unit is not None)
    by_text = Counter(hit.text.strip() for hit in hits if hit.unit is None and hit.text is not None)
    for name, times in (*by_id.items(), *by_text.items()):
        if times > (1 if name in by_id else written[name]):
            return f"One list has {quoted(name)} {times} times."
    return None
