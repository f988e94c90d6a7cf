"""Baseline against candidate: a pure function of the two measurements."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from membench.compare.deltas import by_category, common_cut_offs, compared
from membench.compare.flips import flips
from membench.compare.refusals import refusals
from membench.compare.verdict import judged, over_all
from membench.compare.windows import window_notice
from membench.errors import UsageError
from membench.reports.canonical import canonical_json
from membench.reports.comparison import (
    RUN_SCHEMA,
    SCHEMA,
    Comparison,
    Comparisons,
    Control,
    Headline,
    Refusal,
    Seen,
    Side,
)
from membench.reports.loading import OtherSchema
from membench.reports.measurement import SCHEMA as MEASUREMENT_SCHEMA
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of

HEADLINE_CUT_OFF = 5
_VERSION_STRINGS = ("key", "build", "instruction_set")


def compare(
    baseline: Measurement | OtherSchema | None,
    candidate: Measurement | OtherSchema,
    cut_off: int | None = None,
    questions: Mapping[str, str] | None = None,
) -> Comparison:
    """What ``candidate`` says against ``baseline``, None where there is none yet.

    ``cut_off`` is the headline's, by default 5, or the nearest below that both were scored at. ``questions`` are texts
    by query id. Raises UsageError for a cut-off that one of them was not scored at.
    """
    if not isinstance(baseline, Measurement) or not isinstance(candidate, Measurement):
        return _refused(baseline, candidate, list(_unreadable(baseline, candidate)), cut_off)
    if why := refusals(baseline, candidate):
        return _refused(baseline, candidate, why, cut_off)
    cut_offs = common_cut_offs(baseline, candidate)
    if not cut_offs:
        shown = [", ".join(map(str, one.arm.cut_offs)) for one in (baseline, candidate)]
        why = [Refusal(what="cut-offs", baseline=shown[0], candidate=shown[1], reason="they share no cut-off")]
        return _refused(baseline, candidate, why, cut_off)
    headline = Headline(metric="recall_all", cut_off=_headline(cut_off, cut_offs))
    result = compared(baseline, candidate)
    decision = judged(result.metrics, result.set_aside, headline)
    notices, controls = _notices(baseline, candidate)
    return Comparison(
        schema=SCHEMA,
        verdict=decision.verdict,
        rule=decision.rule,
        identical=is_same(baseline, candidate),
        headline=headline,
        baseline=side_of(baseline),
        candidate=side_of(candidate),
        refusals=[],
        notices=notices,
        controls=controls,
        metrics=result.metrics,
        set_aside=result.set_aside,
        by_category=by_category(baseline, candidate),
        flips=flips(baseline, candidate, headline.cut_off, questions or {}),
    )


def run_comparison(arms: Sequence[Comparison]) -> Comparisons:
    """All arms of a run, at least one."""
    decision = over_all(arms)
    return Comparisons(schema=RUN_SCHEMA, verdict=decision.verdict, rule=decision.rule, arms=list(arms))


def is_same(baseline: Measurement, candidate: Measurement) -> bool:
    """Whether nothing was measured otherwise: they differ at most in version strings, under equal probes."""
    return _blanked(baseline) == _blanked(candidate)


def side_of(measurement: Measurement) -> Side:
    """How a comparison names the measurement."""
    embedder, inputs = measurement.embedder, measurement.inputs
    seen = None
    if embedder is not None and inputs is not None:
        seen = Seen(input_window=embedder.input_window, model_window=embedder.model_window, inputs=inputs)
    return Side(stem=stem_of(measurement), sha256=hashlib.sha256(canonical_json(measurement)).hexdigest(), seen=seen)


def _blanked(measurement: Measurement) -> dict[str, Any]:
    fields = measurement.model_dump()
    if fields["embedder"] is not None:
        fields["embedder"] |= dict.fromkeys(_VERSION_STRINGS)
    return fields


def _headline(asked: int | None, cut_offs: Sequence[int]) -> int:
    if asked is None:
        return max((k for k in cut_offs if k <= HEADLINE_CUT_OFF), default=cut_offs[0])
    if asked not in cut_offs:
        raise UsageError(
            f"--k {asked}: the two were not both scored at it.", f"Both were scored at {', '.join(map(str, cut_offs))}."
        )
    return asked


def _refused(
    baseline: Measurement | OtherSchema | None,
    candidate: Measurement | OtherSchema,
    why: list[Refusal],
    cut_off: int | None,
) -> Comparison:
    notices, controls = list[str](), list[Control]()
    if isinstance(baseline, Measurement) and isinstance(candidate, Measurement):
        notices, controls = _notices(baseline, candidate)
    return Comparison(
        schema=SCHEMA,
        verdict="not comparable",
        rule=why[0].reason.rstrip(".") if len(why) == 1 else f"{len(why)} reasons against it",
        identical=False,
        headline=Headline(metric="recall_all", cut_off=cut_off or HEADLINE_CUT_OFF),
        baseline=side_of(baseline) if isinstance(baseline, Measurement) else None,
        candidate=side_of(candidate) if isinstance(candidate, Measurement) else None,
        refusals=why,
        notices=notices,
        controls=controls,
        metrics=None,
        set_aside=[],
        by_category=[],
        flips=[],
    )


def _unreadable(baseline: Measurement | OtherSchema | None, candidate: Measurement | OtherSchema) -> Iterator[Refusal]:
    if baseline is None:
        yield Refusal(what="baseline", baseline=None, candidate=None, reason="there is no baseline of this name yet")
    for name, one in (("baseline", baseline), ("candidate", candidate)):
        if isinstance(one, OtherSchema):
            yield Refusal(
                what="schema",
                baseline=one.schema if name == "baseline" else MEASUREMENT_SCHEMA,
                candidate=one.schema if name == "candidate" else MEASUREMENT_SCHEMA,
                reason=f"the {name} is of {'an' if one.age == 'older' else 'a'} {one.age} schema. {one.remedy}",
            )


def _notices(baseline: Measurement, candidate: Measurement) -> tuple[list[str], list[Control]]:
    told = window_notice(baseline, candidate)
    rest = [*_cut_offs(baseline, candidate), *_same_space(baseline, candidate)]
    return ([told.told, *rest], told.controls) if told else (rest, [])


def _cut_offs(baseline: Measurement, candidate: Measurement) -> Iterator[str]:
    alone = [
        (side, sorted(set(one.arm.cut_offs) - set(other.arm.cut_offs)))
        for side, one, other in (("baseline", baseline, candidate), ("candidate", candidate, baseline))
    ]
    for side, cut_offs in alone:
        if cut_offs:
            yield f"only the {side} was scored at {', '.join(map(str, cut_offs))}"


def _same_space(baseline: Measurement, candidate: Measurement) -> Iterator[str]:
    one, other = baseline.embedder, candidate.embedder
    if one is None or other is None or one.probe != other.probe:
        return
    for name in _VERSION_STRINGS:
        if getattr(one, name) != getattr(other, name):
            yield (
                f"the embedder's {name.replace('_', ' ')} was {getattr(one, name)} and is {getattr(other, name)}; "
                "the probe vectors are equal to the last bit, so the vector space is the same"
            )
