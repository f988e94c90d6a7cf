"""What a reader looks for in a measurement, as rows: shared by every rendering of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from membench.reports.measurement import Figure, LevelMetrics, Metrics

METRICS = ("recall_all", "recall_any", "recall_micro", "ndcg")


@dataclass(frozen=True, slots=True)
class Row:
    """One metric at one level; a figure is None where the cut-off could not be observed."""

    level: str
    metric: str
    figures: tuple[Figure | None, ...]


def levels(metrics: Metrics) -> Iterator[tuple[str, LevelMetrics]]:
    """The levels that there are, by name."""
    yield "session", metrics.session
    if metrics.turn is not None:
        yield "turn", metrics.turn


def rows(metrics: Metrics, cut_offs: list[int], names: tuple[str, ...] = METRICS) -> list[Row]:
    """One row for each metric at each level."""
    return [
        Row(level, name, tuple(getattr(found, name).get(str(k)) for k in cut_offs))
        for level, found in levels(metrics)
        for name in names
    ]


def denominators(metrics: Metrics, cut_offs: list[int]) -> list[Row]:
    """One row a level, whose figures' ``queries`` are the denominators of every metric above them."""
    return rows(metrics, cut_offs, ("recall_all",))
