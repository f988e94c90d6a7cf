"""How to have more stored, where a measurement is not clean because our own memory did not keep it all."""

from collections.abc import Iterator

from membench.reports.measurement import Measurement

_MEMORY = "episodic"


def remedy(measurement: Measurement) -> str | None:
    """The options of `membench retrieval` that help, one after the other; None where none does."""
    counted, options = measurement.accounting, measurement.memory.options
    if measurement.status == "clean" or measurement.memory.name != _MEMORY:
        return None
    # In own pools a refusal is told beside the figures and makes nothing unclean, unless nothing is left.
    if counted.shared is None and counted.written:
        return None

    def helpful() -> Iterator[str]:
        long = counted.refused.get(f"over {options.get('max_chars')} characters", 0)
        short = counted.refused.get(f"under {options.get('min_chars')} characters", 0)
        if long:
            yield "max_chars=none"
        if short:
            yield "min_chars=0"
        near = any(reason.startswith("cosine over ") for reason in counted.duplicates)
        if near and counted.shared is not None and counted.shared.sessions_never_stored:
            yield "dedup=off"
        most = options.get("episodic_max")
        if counted.shared is None or not isinstance(most, int):
            return
        # Rows are displaced by longer near-duplicates too: the limit has a part in it only where it is reached, or
        # would be by what is refused now.
        rows = counted.shared.rows
        if (rows == most and counted.displaced) or rows + long + short > most:
            yield "episodic_max=none"

    return " ".join(f"--memory-option {option}" for option in helpful()) or None
