"""Measurements of the sample, and what they would be if some of their queries had gone otherwise."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.metrics.aggregate import Figure, Observed, figures
from membench.reports.measurement import Measurement, QueryRanks
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

PART = Reading(part=Slice(instances=1, queries=30))


def measured(folder: Path, **asked: Any) -> Measurement:
    """The first 30 queries of the sample; clean unless the toy embedder is asked for."""
    request = Request(**{"corpus": "sample", "reading": PART, "memory": "bm25", **asked})
    (outcome,) = run_retrieval(
        request, root=folder / "cache", report_dir=folder, command=[], observer_for=lambda *_: Silent()
    )
    return outcome.measurement


def remeasured(measurement: Measurement, change: Callable[[QueryRanks], Mapping[str, Any]]) -> Measurement:
    """``measurement`` with what ``change`` gives for each query, and all its figures as its ranks then give them."""
    return consistent(
        measurement.model_copy(
            update={"queries": [one.model_copy(update=dict(change(one))) for one in measurement.queries]}
        )
    )


def with_ranks(measurement: Measurement, changes: Mapping[str, Mapping[str, Any]]) -> Measurement:
    """The same for the queries of these ids."""
    return remeasured(measurement, lambda query: changes.get(query.id, {}))


def first_queries(measurement: Measurement, count: int) -> Measurement:
    """What a corpus of its first ``count`` queries would have given."""
    counts = measurement.counts.model_copy(update={"scored": count})
    return consistent(measurement.model_copy(update={"queries": measurement.queries[:count], "counts": counts}))


def consistent(measurement: Measurement) -> Measurement:
    """``measurement`` with figures that follow from its ranks."""
    document = measurement.model_dump(by_alias=True)
    cut_offs = measurement.arm.cut_offs
    document["metrics"] = _metrics(measurement, measurement.queries, cut_offs)
    numbers = {query.category for query in measurement.queries}
    document["by_category"] = [one for one in document["by_category"] if one["number"] in numbers]
    for category in document["by_category"]:
        members = [query for query in measurement.queries if query.category == category["number"]]
        category["queries"] = len(members)
        category["metrics"] = _metrics(measurement, members, cut_offs)
    return Measurement.model_validate(document)


def _metrics(measurement: Measurement, queries: Sequence[QueryRanks], cut_offs: Sequence[int]) -> dict[str, Any]:
    session = [Observed(one.id, one.session_ranks, one.session_observed) for one in queries]
    found: dict[str, Any] = {"session": _level(session, cut_offs), "turn": None}
    if measurement.metrics.turn is not None:
        turn = [Observed(one.id, one.turn_ranks, one.turn_observed or 0) for one in queries if one.turn_ranks]
        found["turn"] = _level(turn, cut_offs)
    return found


def _level(queries: Sequence[Observed], cut_offs: Sequence[int]) -> dict[str, Any]:
    computed = figures(queries, cut_offs)
    rows = {metric: {str(k): _figure(one) for k, one in row.items()} for metric, row in computed.at.items()}
    return {**rows, "mrr": None if computed.mrr is None else _figure(computed.mrr)}


def _figure(one: Figure) -> dict[str, Any]:
    return {"value": one.value, "queries": one.queries, "population": one.population}
