"""The rules `errors` and `close`: a closed pool is gone, with everything in it."""

from membench.memories.check.bench import LIMIT, Bench, Broken, NotJudged, Pool, Written
from membench.memories.check.hits import shown_hits, shown_search
from membench.memories.check.texts import FEW, SENTENCES
from membench.memories.protocol import Hit

_WRITTEN_AFTER = SENTENCES[13]


def errors(bench: Bench) -> str:
    """A call for a closed pool is an error and not an empty list.

    A Python object is not asked to raise: its store is in nobody else's hands, and what it does once closed is its own
    affair, as long as it gives no hits. A process or a service that has lost its pools, by a restart in mid-run, would
    otherwise answer every query with nothing.
    """
    with bench.pool() as pool:
        pool.fill(FEW[:3])
        try:
            pool.close()
        except Broken as failure:
            raise NotJudged("Closing fails: see the rule `close`.") from failure
        hits = _searched(pool)
        call = f"close {pool.name}; {shown_search(FEW[0], LIMIT)}"
        if hits:
            raise Broken("A closed pool still gave hits.", call, shown_hits(hits))
        if bench.kind == "python":
            done = "gave nothing" if hits is not None else "raised an error"
            return f"A search in a closed store {done}; of a Python object no more is asked."
        if hits is not None:
            raise Broken("A search in a closed pool gave an empty list: expected an error.", call, shown_hits(hits))
        try:
            pool.write(FEW[3:4])
        except Broken:
            return "A search in a closed pool and a write to it were errors."
        raise Broken(
            "A write to a closed pool was answered: expected an error.",
            f"close {pool.name}; write to it",
            str(pool.written[-1].receipt.status),
        )


def _searched(pool: Pool) -> list[Hit] | None:
    """The hits, None for an error."""
    try:
        return pool.search(FEW[0])
    except Broken:
        return None


def close(bench: Bench) -> str:
    """Opened again by its name, a pool is empty; nothing of it stays around it."""
    if bench.description is None:
        raise NotJudged("It does not describe itself.")
    if not bench.description.ephemeral:
        raise NotJudged("It does not say that it is ephemeral: what is written may stay.")
    # What a memory makes once, such as a folder for all its pools, may stay until it ends.
    _used(bench, bench.new_name())
    before = bench.surroundings.now()
    name = bench.new_name()
    written = _used(bench, name)
    if left := bench.surroundings.left_since(before):
        raise Broken(
            f"A pool was closed and left behind: {', '.join(left[:5])}.",
            "open, write, search, close",
            ", ".join(left[:20]),
        )
    _refuse_remains(bench, name, written)
    if bench.close_failure is not None:
        raise bench.close_failure
    watched = bench.surroundings.watched
    around = f" No {watched} stayed." if watched else " What stays around it cannot be seen from here."
    return f"Opened again by its name, a closed pool held nothing of what was written to it.{around}"


def _used(bench: Bench, name: str) -> list[Written]:
    with bench.pool(name) as pool:
        pool.fill(FEW)
        for text in FEW[:3]:
            pool.search(text)
        pool.close()
    return pool.written


def _refuse_remains(bench: Bench, name: str, before: list[Written]) -> None:
    with bench.pool(name) as again:
        # An empty store is another rule's affair.
        again.fill((_WRITTEN_AFTER,), numbers=(len(before) + 1,))
        ids = {one.unit.id for one in before}
        for text in FEW:
            hits = again.search(text)
            if any(hit.unit in ids if hit.unit is not None else (hit.text or "").strip() in FEW for hit in hits):
                raise Broken(
                    "A closed pool that was opened again by its name still gave what was written before.",
                    f"close {name}; open {name}; {shown_search(text, LIMIT)}",
                    shown_hits(hits),
                )
