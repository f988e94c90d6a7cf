"""What a query searches, and what a shared pool was made of."""

from membench.reports.measurement import Measurement, SharedPool

DISTRACTION = "a distraction test over many personas, and not a forecast for one person's memory"


def searched(measurement: Measurement) -> str:
    """The beginning of a sentence: what each query searches."""
    shared = measurement.accounting.shared
    if shared is None:
        return "Each query searches its own instance"
    return f"Each query searches one pool of all {shared.session_texts:,} distinct sessions of {_whole(measurement)}"


def pool_lines(measurement: Measurement) -> list[str]:
    """What a shared pool is and holds, without full stops; nothing for own pools."""
    shared = measurement.accounting.shared
    if shared is None:
        return []
    return [
        f"one pool of all {shared.session_texts:,} distinct sessions of {_whole(measurement)}: {DISTRACTION}",
        f"in it: {'; '.join(f'{name} {count:,}' for name, count in pool_rows(shared))}",
    ]


def pool_rows(shared: SharedPool) -> list[tuple[str, int]]:
    """Its counts by name, each its own number."""
    return [
        ("session references", shared.session_references),
        ("unique session ids", shared.session_ids),
        ("distinct texts", shared.session_texts),
        ("units accepted", shared.units_accepted),
        ("writes collapsed by the memory", shared.writes_collapsed),
        ("units refused", shared.units_refused),
        ("rows at the end", shared.rows),
        ("references with another date than the one written", shared.redated_references),
        ("sessions never stored", shared.sessions_never_stored),
    ]


def _whole(measurement: Measurement) -> str:
    part = measurement.corpus.slice
    return "the corpus" if part.instances is None and part.queries is None else "the measured part of the corpus"
