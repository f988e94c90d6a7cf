"""The headline of a comparison, as rows: shared by every rendering of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from membench.render.figures import levels
from membench.render.text import in_queries
from membench.reports.comparison import (
    Comparison,
    Delta,
    Flips,
    Headline,
    Level,
    LevelDeltas,
    MetricDeltas,
    SetAside,
)
from membench.reports.measurement import Measurement


@dataclass(frozen=True, slots=True)
class HeadlineRow:
    """The headline figure at one level; what is not known is None.

    ``both`` is the number of queries that both sides observed, where the figure is set aside and these are over them
    alone; ``in_queries`` is the difference as so many queries.
    """

    level: str
    cut_off: int
    baseline: float | None = None
    candidate: float | None = None
    delta: float | None = None
    in_queries: int | None = None
    queries: int = 0
    both: int | None = None
    gained: int | None = None
    lost: int | None = None


def delta_levels(metrics: MetricDeltas) -> Iterator[tuple[Level, LevelDeltas]]:
    """The levels that there are, by name."""
    yield "session", metrics.session
    if metrics.turn is not None:
        yield "turn", metrics.turn


def headline_of(comparison: Comparison, measurement: Measurement | None = None) -> list[HeadlineRow]:
    """One row a level; of a refused comparison the candidate's figures alone, if its ``measurement`` is given."""
    if comparison.metrics is not None:
        return headline_rows(comparison.metrics, comparison.set_aside, comparison.headline, comparison.flips)
    return [] if measurement is None else list(_alone(comparison.headline.cut_off, measurement))


def headline_rows(
    metrics: MetricDeltas, set_aside: Sequence[SetAside], headline: Headline, flips: Sequence[Flips] = ()
) -> list[HeadlineRow]:
    """One row a level, a figure that is set aside with those of the queries that both observed, if any did."""
    found = []
    for level, deltas in delta_levels(metrics):
        flipped = next((one for one in flips if one.level == level), None)
        aside = next((one for one in set_aside if (one.level, one.cut_off) == (level, headline.cut_off)), None)
        row = deltas.recall_all.get(str(headline.cut_off))
        if row is not None:
            found.append(_row(level, headline.cut_off, row, flipped))
        elif aside is not None and aside.paired:
            found.append(_row(level, headline.cut_off, aside.paired[headline.metric], flipped, aside.both))
        else:
            found.append(HeadlineRow(level, headline.cut_off))
    return found


def _row(level: str, cut_off: int, row: Delta, flipped: Flips | None, both: int | None = None) -> HeadlineRow:
    return HeadlineRow(
        level=level,
        cut_off=cut_off,
        baseline=row.baseline,
        candidate=row.candidate,
        delta=row.delta,
        in_queries=in_queries(row.delta, row.queries),
        queries=row.queries,
        both=both,
        gained=len(flipped.gained) if flipped else None,
        lost=len(flipped.lost) if flipped else None,
    )


def _alone(cut_off: int, measurement: Measurement) -> Iterator[HeadlineRow]:
    """At the cut-off of the headline, or the nearest below, or the first that there is."""
    for level, found in levels(measurement.metrics):
        known = sorted(map(int, found.recall_all))
        if known:
            k = max((one for one in known if one <= cut_off), default=known[0])
            one = found.recall_all[str(k)]
            yield HeadlineRow(level, k, candidate=one.value, queries=one.queries)
