"""The rules `unicode` and `queries`: what is odd is taken or refused, and never an error or a loss."""

from membench.memories.check.bench import LIMIT, Bench, Broken
from membench.memories.check.hits import quoted, shown_hits, shown_search
from membench.memories.check.texts import FEW, HUGE_QUERY, unusual

_QUERIES = {
    "an empty query": "",
    "a blank query": " \n\t ",
    "a query of signs": "?! --- \"'%*()",
    "a query of 10 kB": HUGE_QUERY,
}


def unicode(bench: Bench) -> str:
    """Each text is stored and found, a duplicate, or refused with a reason."""
    counts = {"stored": 0, "duplicate": 0, "refused": 0}
    with bench.pool() as pool:
        for what, (text, query) in unusual().items():
            call = f"write({quoted(text)})"
            try:
                (written,) = pool.write((text,))
                # What is blank need not be found by anything.
                place, hits = pool.look_for(written, query) if text.strip() else (1, [])
            except Broken as failure:
                raise Broken(f"With {what}: {failure.reason}", call, failure.example.answer) from failure
            counts[written.receipt.status] += 1
            if written.receipt.status == "refused" and not written.receipt.reason:
                raise Broken(f"A text with {what} was refused without a reason.", call, "refused, reason null")
            if written.stored and place is None:
                raise Broken(
                    f"A text with {what} was stored and is not among the hits for it.",
                    f"{call}: stored; {shown_search(query, LIMIT)}",
                    shown_hits(hits),
                )
    told = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    return f"{sum(counts.values())} unusual texts: {told}; what was stored was found."


def queries(bench: Bench) -> str:
    """Odd queries get an answer, with hits or without."""
    with bench.pool() as pool:
        pool.fill(FEW)
        for what, query in _QUERIES.items():
            try:
                pool.search(query)
            except Broken as failure:
                raise Broken(
                    f"It fails at {what}: {failure.reason}", failure.example.call, failure.example.answer
                ) from failure
    return "An empty query, a blank one, one of signs and one of 10 kB were answered."
