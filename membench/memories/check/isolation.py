"""The rule `isolated`: what is written to one pool is never found in another."""

from membench.memories.check.bench import LIMIT, Bench, Broken, Pool
from membench.memories.check.hits import shown_hits, shown_search
from membench.memories.check.texts import SENTENCES

_SHARED = SENTENCES[12]


def isolated(bench: Bench) -> str:
    """Two pools are open at a time, with different texts and one that is the same. Closing one leaves the other."""
    with bench.pool() as other:
        with bench.pool() as one:
            one.fill((*SENTENCES[:5], _SHARED))
            other.fill((*SENTENCES[5:10], _SHARED))
            _compare(one, other)
            # Searches in between may have built an index.
            one.write(SENTENCES[10:12])
            other.write(SENTENCES[13:15])
            _compare(one, other)
        for written in other.standing():
            place, hits = other.look_for(written)
            if place is None:
                raise Broken(
                    f"{written.unit.id} is not found any more in {other.name} once {one.name} is closed.",
                    f"close {one.name}; {shown_search(written.unit.text, LIMIT)} in {other.name}",
                    shown_hits(hits),
                )
    return "Two pools were open at a time; neither gave what was in the other, and closing one left the other."


def _compare(one: Pool, other: Pool) -> None:
    for searched, foreign in ((one, other), (other, one)):
        ids = {written.unit.id for written in foreign.written}
        own = {written.unit.text.strip() for written in searched.written}
        texts = {written.unit.text.strip() for written in foreign.written} - own
        for written in (*foreign.written, *searched.written):
            hits = searched.search(written.unit.text)
            for hit in hits:
                if hit.unit in ids or (hit.unit is None and hit.text is not None and hit.text.strip() in texts):
                    raise Broken(
                        f"A search in {searched.name} gave what was written to {foreign.name} alone.",
                        f"{shown_search(written.unit.text, LIMIT)} in {searched.name}",
                        shown_hits(hits),
                    )
