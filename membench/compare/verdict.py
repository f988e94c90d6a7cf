"""One word for a comparison, and the rule that gave it.

The ruler is deterministic: a difference of one query is a difference, and only exact zero is none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from membench.reports.comparison import Comparison, Headline, LevelDeltas, MetricDeltas, SetAside, Verdict

_HEAVIEST_FIRST: tuple[Verdict, ...] = ("regressed", "not comparable", "improved", "unchanged")


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict, and why."""

    verdict: Verdict
    rule: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one level says: whether anything rose, whether anything fell, and how to tell it.

    Levels that say the same are told together: ``level`` is None where that cannot be.
    """

    rose: bool
    fell: bool
    told: str
    level: str | None = None


def judged(metrics: MetricDeltas, set_aside: Sequence[SetAside], headline: Headline) -> Judged:
    """From the headline figure at each level.

    Where other queries count on each side, a query that no longer does speaks against the candidate, and one that newly
    does for it: a memory that brings back too few distinct items to be observed has not improved.
    """
    named = f"{headline.metric}@{headline.cut_off}"
    readings = [
        reading
        for level, deltas in _levels(metrics)
        if (reading := _reading(level, deltas, set_aside, headline.cut_off))
    ]
    if not readings:
        return Judged("not comparable", f"no query counts for {named} at any level")
    rule = f"{named} {' and '.join(_told(readings))}"
    rose, fell = any(reading.rose for reading in readings), any(reading.fell for reading in readings)
    if rose and fell:
        return Judged("mixed", rule)
    return Judged("improved" if rose else "regressed" if fell else "unchanged", rule)


def _reading(level: str, deltas: LevelDeltas, set_aside: Sequence[SetAside], cut_off: int) -> _Reading | None:
    if (delta := deltas.recall_all.get(str(cut_off))) is not None:
        return _Reading(delta.delta > 0, delta.delta < 0, _moved(delta.delta), level)
    aside = next((one for one in set_aside if (one.level, one.cut_off) == (level, cut_off)), None)
    if aside is None:
        return None
    gone, new = aside.baseline_queries - aside.both, aside.candidate_queries - aside.both
    counts = [f"{gone:,} no longer count" * bool(gone), f"{new:,} newly count" * bool(new)]
    told = f"is over other queries at {level} level ({', '.join(filter(None, counts))}"
    paired = aside.paired.get("recall_all")
    if paired is None:
        return _Reading(bool(new), bool(gone), f"{told})")
    over = f"it {_moved(paired.delta)} over the {aside.both:,} that both observed"
    return _Reading(new > 0 or paired.delta > 0, gone > 0 or paired.delta < 0, f"{told}; {over})")


def _told(readings: Sequence[_Reading]) -> Iterator[str]:
    for told in dict.fromkeys(reading.told for reading in readings):
        levels = [reading.level for reading in readings if reading.told == told and reading.level]
        yield f"{told} at {' and '.join(levels)} level" if levels else told


def _moved(delta: float) -> str:
    return "rose" if delta > 0 else "fell" if delta < 0 else "is exactly equal"


def over_all(arms: Sequence[Comparison]) -> Judged:
    """The verdict of a run: whichever way all arms that moved have moved.

    An arm of which nothing can be said is no arm that holds: it leaves a run without a fall not comparable.
    """
    verdicts = {arm.verdict for arm in arms}
    counts = ", ".join(f"{sum(arm.verdict == word for arm in arms)} {word}" for word in _in_order(arms))
    rule = f"{len(arms)} {'arm' if len(arms) == 1 else 'arms'}: {counts}"
    if "mixed" in verdicts or {"improved", "regressed"} <= verdicts:
        return Judged("mixed", rule)
    for word in _HEAVIEST_FIRST:
        if word in verdicts:
            return Judged(word, rule)
    raise ValueError("a run has at least one arm")


def _in_order(arms: Sequence[Comparison]) -> list[Verdict]:
    return list(dict.fromkeys(arm.verdict for arm in arms))


def _levels(metrics: MetricDeltas) -> list[tuple[str, LevelDeltas]]:
    turn = [("turn", metrics.turn)] if metrics.turn is not None else []
    return [("session", metrics.session), *turn]
