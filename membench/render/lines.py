"""All figures of a comparison or of one measurement, as the lines of one table: for a terminal and for Markdown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from membench.render.deltas import delta_levels
from membench.render.figures import METRICS, levels
from membench.render.text import EMPTY, figure, grouped, in_queries, signed, signed_count
from membench.reports.comparison import Delta, LevelDeltas, MetricDeltas
from membench.reports.measurement import Figure, LevelMetrics, Measurement

HEADLINE = METRICS[0]
_One = TypeVar("_One", Delta, Figure)


@dataclass(frozen=True, slots=True)
class Line:
    """A cell for each cut-off, and one for MRR, which stands in the lines of the first metric.

    ``side`` is `baseline`, `candidate`, `change`, `in queries` for a change of recall_all so counted, `both` where the
    two are exactly equal throughout, and empty where there is one measurement or one count.
    """

    level: str
    metric: str
    side: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """``lines`` at ``cut_offs``."""

    cut_offs: tuple[int, ...]
    lines: tuple[Line, ...]


def comparison_table(metrics: MetricDeltas) -> Table:
    """Every figure that is over the same queries on both sides."""
    known = {k for _, deltas in delta_levels(metrics) for k in deltas.recall_all}
    cut_offs = tuple(sorted(map(int, known)))
    return Table(
        cut_offs, tuple(line for level, deltas in delta_levels(metrics) for line in _deltas(level, deltas, cut_offs))
    )


def measurement_table(measurement: Measurement) -> Table:
    """Every figure of one measurement."""
    cut_offs = tuple(measurement.arm.cut_offs)
    return Table(
        cut_offs,
        tuple(line for level, found in levels(measurement.metrics) for line in _figures(level, found, cut_offs)),
    )


def _deltas(level: str, deltas: LevelDeltas, cut_offs: Sequence[int]) -> Iterator[Line]:
    for metric in METRICS:
        found, mrr = _row(getattr(deltas, metric), cut_offs), deltas.mrr if metric == HEADLINE else None
        if not any(one.delta for one in (*found, mrr) if one):
            yield Line(level, metric, "both", _cells(found, mrr, lambda one: figure(one.candidate)))
            continue
        yield Line(level, metric, "baseline", _cells(found, mrr, lambda one: figure(one.baseline)))
        yield Line(level, metric, "candidate", _cells(found, mrr, lambda one: figure(one.candidate)))
        yield Line(level, metric, "change", _cells(found, mrr, lambda one: signed(one.delta)))
        if metric == HEADLINE:
            yield Line(level, metric, "in queries", _cells(found, None, _in_queries))
    found = _row(deltas.recall_all, cut_offs)
    yield Line(level, "queries", "", _cells(found, deltas.mrr, lambda one: grouped(one.queries)))


def _figures(level: str, metrics: LevelMetrics, cut_offs: Sequence[int]) -> Iterator[Line]:
    for metric in METRICS:
        mrr = metrics.mrr if metric == HEADLINE else None
        yield Line(
            level, metric, "", _cells(_row(getattr(metrics, metric), cut_offs), mrr, lambda one: figure(one.value))
        )
    found = _row(metrics.recall_all, cut_offs)
    yield Line(level, "queries", "", _cells(found, metrics.mrr, lambda one: grouped(one.queries)))


def _row(row: dict[str, _One], cut_offs: Sequence[int]) -> list[_One | None]:
    return [row.get(str(k)) for k in cut_offs]


def _cells(found: Sequence[_One | None], mrr: _One | None, show: Callable[[_One], str]) -> tuple[str, ...]:
    return (*(show(one) if one else EMPTY for one in found), show(mrr) if mrr else "")


def _in_queries(one: Delta) -> str:
    return signed_count(in_queries(one.delta, one.queries))
