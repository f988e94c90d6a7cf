"""What a reader has to know before believing a figure: one sentence each, none where there is nothing to say."""

from collections.abc import Iterator

from membench.reports.measurement import Measurement


def notices(measurement: Measurement) -> Iterator[str]:
    """About what is not in the store, what has no date, and what came back empty."""
    counted = measurement.accounting
    kept = counted.written - counted.displaced
    if kept < counted.attempted:
        reasons = {
            **{f"duplicate, {reason}": count for reason, count in counted.duplicates.items()},
            **{f"refused, {reason}": count for reason, count in counted.refused.items()},
            "pushed out by later ones": counted.displaced,
        }
        why = "; ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        yield f"{kept:,} of {counted.attempted:,} units stand in the store ({why})"
    if counted.gold_lost:
        lost = _several(len(counted.gold_lost), "gold item")
        wanting = _several(counted.queries_missing_gold, "scored query")
        yield f"{lost} of {wanting} not in the store; each is named under what was written"
    if counted.undated_units and measurement.arm.timeline != "now":
        yield f"{_several(counted.undated_units, 'unit')} without a date that can be read: their age counts as zero"
    if counted.unattributed_hits:
        yield f"{counted.unattributed_hits:,} of {_several(counted.hits, 'hit')} of nothing that stands in the store"
    if measurement.memory.noisy:
        yield "this memory is noisy: asked the same again, it gave another list, so that no delta of it is exact"
    if counted.empty_searches:
        yield f"{_several(counted.empty_searches, 'search')} without a hit, which count at no cut-off"


def _several(count: int, what: str) -> str:
    plurals = {"query": "queries", "search": "searches"}
    words = what.split()
    plural = " ".join([*words[:-1], plurals.get(words[-1], f"{words[-1]}s")])
    return f"{count:,} {what if count == 1 else plural}"
