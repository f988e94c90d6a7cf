"""The rule `receipts`: what a receipt says of a unit is what became of it."""

from collections.abc import Iterator

from membench.memories.check.bench import LIMIT, Bench, Broken, NotJudged, Pool, Written, WrongReceipts
from membench.memories.check.hits import is_of, quoted, shown_hits, shown_search
from membench.memories.check.texts import LONG, SENTENCES, SHORT
from membench.memories.protocol import Hit

_QUERY_CHARS = 120
_BATCHES = (
    (SENTENCES[0], SENTENCES[1], SENTENCES[0], SHORT, SENTENCES[2]),
    (SENTENCES[3], LONG, SENTENCES[1], SENTENCES[4]),
)
"""With texts that a memory may refuse, and two that are written twice, in one call and in another."""


def receipts(bench: Bench) -> str:
    """One a unit, in order; what is stored is found, and what is not is not; a text twice is two units or one."""
    with bench.pool() as pool:
        for texts in _BATCHES:
            try:
                pool.write(texts)
            except WrongReceipts as wrong:
                raise Broken(f"{wrong}.", f"write({len(texts)} units)", str(wrong)) from wrong
        standing = pool.standing()
        if not standing:
            raise NotJudged("It stored none of the texts.")
        for one in pool.written:
            _judge(pool, one, one in standing)
        counts = ", ".join(f"{number} {status}" for status, number in _counts(pool))
    return f"Of {len(pool.written)} units, with repeated, short and long ones: {counts}, each as its receipt says."


def _judge(pool: Pool, one: Written, stands: bool) -> None:
    # An embedder takes its time for a long one.
    query = one.unit.text[:_QUERY_CHARS]
    place, hits = pool.look_for(one, query)
    if stands and place is None:
        _lie(one, "is not found", hits)
    by_id = [hit for hit in hits if hit.unit == one.unit.id]
    if by_id and not stands:
        _lie(one, "is found", hits)
    twins = [other for other in pool.standing() if other.unit.text.strip() == one.unit.text.strip()]
    # By text, units of one text are told by their number alone.
    named = [hit for hit in hits if hit.unit is None and is_of(hit, one.unit)]
    if named and len(named) != len(twins):
        _lie(one, f"came back {len(named)} times, where {len(twins)} of that text were stored", hits)


def _lie(one: Written, fact: str, hits: list[Hit]) -> None:
    said: str = one.receipt.status
    if one.receipt.status == "stored" and fact == "is found":
        said = "displaced since"
    call = f"write({one.unit.id} {quoted(one.unit.text)}): {said}; {shown_search(one.unit.text[:_QUERY_CHARS], LIMIT)}"
    raise Broken(f"The receipt of {one.unit.id} says {said}, and it {fact}.", call, shown_hits(hits))


def _counts(pool: Pool) -> Iterator[tuple[str, int]]:
    for status in ("stored", "duplicate", "refused"):
        yield status, sum(one.receipt.status == status for one in pool.written)
