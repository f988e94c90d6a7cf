"""One word for a comparison, and the rule that gave it.

The ruler is deterministic: a difference of one query is a difference, and only exact zero is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from membench.reports.comparison import Comparison, Headline, LevelDeltas, MetricDeltas, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict, and why."""

    verdict: Verdict
    rule: str


def judged(metrics: MetricDeltas, headline: Headline) -> Judged:
    """From the headline figure at each level at which both sides have it over the same queries."""
    named = f"{headline.metric}@{headline.cut_off}"
    found = {
        level: deltas.recall_all[str(headline.cut_off)].delta
        for level, deltas in _levels(metrics)
        if str(headline.cut_off) in deltas.recall_all
    }
    left_out = [level for level, _ in _levels(metrics) if level not in found]
    aside = f" ({' and '.join(left_out)} level set aside, its figures are over different queries)" if left_out else ""
    if not found:
        return Judged("not comparable", f"{named} is over the same queries at no level{aside}")
    moved = {level: delta for level, delta in found.items() if delta}
    if not moved:
        return Judged("unchanged", f"{named} is exactly equal at {' and '.join(found)} level{aside}")
    told = " and ".join(f"{'rose' if delta > 0 else 'fell'} at {level} level" for level, delta in moved.items())
    still = [level for level in found if level not in moved]
    rest = f" and is exactly equal at {' and '.join(still)} level" if still else ""
    return Judged(_verdict([delta > 0 for delta in moved.values()]), f"{named} {told}{rest}{aside}")


def over_all(arms: Sequence[Comparison]) -> Judged:
    """The verdict of a run: of the arms that could be compared, whichever way all that moved have moved."""
    known = [arm.verdict for arm in arms if arm.verdict != "not comparable"]
    counts = ", ".join(f"{sum(arm.verdict == word for arm in arms)} {word}" for word in _in_order(arms))
    rule = f"{len(arms)} {'arm' if len(arms) == 1 else 'arms'}: {counts}"
    if not known:
        return Judged("not comparable", rule)
    moved = [word for word in known if word != "unchanged"]
    if not moved:
        return Judged("unchanged", rule)
    return Judged(moved[0] if len(set(moved)) == 1 else "mixed", rule)


def _in_order(arms: Sequence[Comparison]) -> list[Verdict]:
    return list(dict.fromkeys(arm.verdict for arm in arms))


def _verdict(rises: Sequence[bool]) -> Verdict:
    if all(rises):
        return "improved"
    return "mixed" if any(rises) else "regressed"


def _levels(metrics: MetricDeltas) -> list[tuple[str, LevelDeltas]]:
    turn = [("turn", metrics.turn)] if metrics.turn is not None else []
    return [("session", metrics.session), *turn]
