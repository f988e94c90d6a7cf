"""One arm's comparison as Markdown, and what the documents of a whole run show of each arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from membench.corpora.catalog import CORPORA
from membench.render.deltas import HeadlineRow, headline_of, headline_rows
from membench.render.engine import render
from membench.render.lines import Table, comparison_table, measurement_table
from membench.render.notices import notices
from membench.render.pool import pool_lines
from membench.render.seen import seen, seen_by_both
from membench.reports.comparison import CategoryDeltas, Comparison, Delta
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of


@dataclass(frozen=True, slots=True)
class Point:
    """Session recall_all at one cut-off."""

    cut_off: int
    row: Delta


@dataclass(frozen=True, slots=True)
class Category:
    """The headline rows of one kind of query."""

    name: str
    number: int | str
    queries: int
    headline: list[HeadlineRow]


@dataclass(frozen=True, slots=True)
class ArmView:
    """One arm as the templates see it.

    ``measurement`` is the candidate, None where it is not at hand; ``table`` is None where there is no figure;
    ``beside`` is what a reader has to know of the figures in it: how much of the texts the model saw, and what a shared
    pool is; ``first`` says that nothing was accepted under this name yet, ``file`` what a proposal does to its file,
    ``attribution`` whose the questions are that are shown.
    """

    stem: str
    comparison: Comparison
    measurement: Measurement | None
    first: bool
    file: str
    headline: list[HeadlineRow]
    chart: list[Point]
    table: Table | None
    beside: list[str]
    categories: list[Category]
    category_names: dict[int | str, str]
    notices: list[str]
    attribution: str | None


def comparison_markdown(comparison: Comparison, folder: Path | None = None) -> str:
    """The document of one arm. ``folder`` holds templates of the user's own; raises UsageError where one fails."""
    return render("comparison.md.j2", {"arm": arm_view(comparison)}, folder)


def arm_view(comparison: Comparison, measurement: Measurement | None = None) -> ArmView:
    """What there is to show of ``comparison``, whose candidate is ``measurement``."""
    first = any(refusal.what == "baseline" for refusal in comparison.refusals)
    return ArmView(
        stem=_stem(comparison, measurement),
        comparison=comparison,
        measurement=measurement,
        first=first,
        file=_file(comparison, measurement, first),
        headline=headline_of(comparison, measurement),
        chart=_chart(comparison),
        table=_table(comparison, measurement),
        beside=_beside(comparison, measurement),
        categories=[_category(one, comparison) for one in comparison.by_category],
        category_names={one.number: one.name for one in comparison.by_category},
        notices=[] if measurement is None else list(notices(measurement)),
        attribution=_attribution(comparison),
    )


def arm_views(arms: Sequence[Comparison], measurements: Sequence[Measurement]) -> list[ArmView]:
    """One for each arm, with its candidate. Raises ValueError where they are not as many."""
    return [arm_view(arm, measurement) for arm, measurement in zip(arms, measurements, strict=True)]


def _stem(comparison: Comparison, measurement: Measurement | None) -> str:
    if measurement is not None:
        return stem_of(measurement)
    side = comparison.candidate or comparison.baseline
    return side.stem if side else "a measurement of another schema"


def _file(comparison: Comparison, measurement: Measurement | None, first: bool) -> str:
    if measurement is not None and measurement.status != "clean":
        return "not proposed: the measurement is not clean"
    if measurement is not None and measurement.memory.noisy:
        return "not proposed: the memory is noisy"
    if comparison.identical:
        return "as it was"
    return "new" if first else "replaced"


def _attribution(comparison: Comparison) -> str | None:
    """Whose the questions are that are shown; None where none is, or the corpus is the caller's own."""
    shown = any(flip.question for level in comparison.flips for flip in (*level.lost, *level.gained))
    pin = CORPORA.get(comparison.candidate.stem.partition(".")[0]) if comparison.candidate else None
    return f"{pin.title}, {pin.licence}" if shown and pin else None


def _chart(comparison: Comparison) -> list[Point]:
    if comparison.metrics is None:
        return []
    row = comparison.metrics.session.recall_all
    most = max((one.queries for one in row.values()), default=0)
    # A bar over one query in a thousand beside one over all of them would be read as a fall.
    return [Point(k, row[str(k)]) for k in sorted(map(int, row)) if 2 * row[str(k)].queries >= most]


def _table(comparison: Comparison, measurement: Measurement | None) -> Table | None:
    if comparison.metrics is not None:
        return comparison_table(comparison.metrics)
    return None if measurement is None else measurement_table(measurement)


def _beside(comparison: Comparison, measurement: Measurement | None) -> list[str]:
    if comparison.metrics is None:
        return [] if measurement is None else [*seen(measurement), *pool_lines(measurement)]
    return [*seen_by_both(comparison), *([] if measurement is None else pool_lines(measurement))]


def _category(one: CategoryDeltas, comparison: Comparison) -> Category:
    return Category(one.name, one.number, one.queries, headline_rows(one.metrics, one.set_aside, comparison.headline))
