"""Two measurements' figures side by side, each pair over one and the same population."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from membench.metrics.aggregate import Figure, Figures, Observed, figures
from membench.reports.comparison import CategoryDeltas, Delta, Level, LevelDeltas, MetricDeltas, SetAside
from membench.reports.measurement import Measurement
from membench.reports.recomputed import observed


@dataclass(frozen=True, slots=True)
class Compared:
    """The figures of equal populations, and the cut-offs that are set aside for unequal ones."""

    metrics: MetricDeltas
    set_aside: list[SetAside]


def compared(baseline: Measurement, candidate: Measurement) -> Compared:
    """Over all queries, at the cut-offs that both were scored at.

    Both sides are computed here from their ranks, so that equal ranks give equal figures to the last bit, whichever C
    library wrote the files.
    """
    return _compared(observed(baseline), observed(candidate), common_cut_offs(baseline, candidate))


def by_category(baseline: Measurement, candidate: Measurement) -> list[CategoryDeltas]:
    """The same for each category, in the order of the candidate's file."""
    cut_offs = common_cut_offs(baseline, candidate)
    kinds = {query.id: query.category for query in candidate.queries}
    was, now = observed(baseline), observed(candidate)
    found = []
    for category in candidate.by_category:
        ids = {query for query, number in kinds.items() if number == category.number}
        result = _compared(_part(was, ids), _part(now, ids), cut_offs)
        found.append(
            CategoryDeltas(
                name=category.name,
                number=category.number,
                queries=category.queries,
                metrics=result.metrics,
                set_aside=result.set_aside,
            )
        )
    return found


def _part(levels: dict[str, list[Observed]], ids: set[str]) -> dict[str, list[Observed]]:
    return {level: _only(queries, ids) for level, queries in levels.items()}


def common_cut_offs(baseline: Measurement, candidate: Measurement) -> list[int]:
    """Those that both measurements were scored at, smallest first."""
    return sorted(set(baseline.arm.cut_offs) & set(candidate.arm.cut_offs))


def _compared(
    baseline: dict[str, list[Observed]], candidate: dict[str, list[Observed]], cut_offs: Sequence[int]
) -> Compared:
    session, aside = _level("session", baseline["session"], candidate["session"], cut_offs)
    turn = None
    if "turn" in baseline and "turn" in candidate:
        turn, more = _level("turn", baseline["turn"], candidate["turn"], cut_offs)
        aside += more
    return Compared(MetricDeltas(session=session, turn=turn), aside)


def _level(
    level: Level, baseline: Sequence[Observed], candidate: Sequence[Observed], cut_offs: Sequence[int]
) -> tuple[LevelDeltas, list[SetAside]]:
    sides = figures(baseline, cut_offs), figures(candidate, cut_offs)
    rows: dict[str, dict[str, Delta]] = {metric: {} for metric in sides[0].at}
    aside = []
    for k in cut_offs:
        populations = [{one.query for one in side if one.observed >= k} for side in (baseline, candidate)]
        if populations[0] != populations[1]:
            aside.append(_set_aside(level, k, baseline, candidate, populations))
        elif populations[0]:
            for metric, row in _at(sides, k).items():
                rows[metric][str(k)] = row
    mrr = [side.mrr for side in sides]
    return LevelDeltas(**rows, mrr=_delta(mrr[0], mrr[1]) if mrr[0] and mrr[1] else None), aside


def _set_aside(
    level: Level, k: int, baseline: Sequence[Observed], candidate: Sequence[Observed], populations: Sequence[set[str]]
) -> SetAside:
    both = populations[0] & populations[1]
    pair = figures(_only(baseline, both), [k]), figures(_only(candidate, both), [k])
    counts = [len(population) for population in populations]
    gone, new = len(populations[0] - both), len(populations[1] - both)
    return SetAside(
        level=level,
        cut_off=k,
        reason=(
            f"a query counts at {k} only if {k} distinct {level}s came back: "
            f"{gone:,} count in the baseline alone, {new:,} in the candidate alone"
        ),
        baseline_queries=counts[0],
        candidate_queries=counts[1],
        both=len(both),
        paired=_at(pair, k) if both else {},
    )


def _only(queries: Iterable[Observed], ids: set[str]) -> list[Observed]:
    return [one for one in queries if one.query in ids]


def _at(sides: tuple[Figures, Figures], k: int) -> dict[str, Delta]:
    return {metric: _delta(row[k], sides[1].at[metric][k]) for metric, row in sides[0].at.items()}


def _delta(baseline: Figure, candidate: Figure) -> Delta:
    return Delta(
        baseline=baseline.value,
        candidate=candidate.value,
        delta=candidate.value - baseline.value,
        queries=candidate.queries,
        population=candidate.population,
    )
