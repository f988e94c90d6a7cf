"""Reading a measurement file back: strictly, and only if it says what its own ranks say."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from membench.errors import ReportError
from membench.files.failures import storage_errors
from membench.metrics.aggregate import Figures, Observed, figures
from membench.reports.measurement import SCHEMA, LevelMetrics, Measurement

# The recorded values may come from another C library, whose log2 may differ in the last bit.
_TOLERANCE = 1e-9
_FAMILY = SCHEMA.split("/")[0]


@dataclass(frozen=True, slots=True)
class OtherSchema:
    """A measurement file of another version of the schema, which nothing here can compare.

    ``age`` is `older` or `newer`.
    """

    schema: str
    age: str

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return (
            "Measure again with this membench, and accept the result as the new baseline."
            if self.age == "older"
            else "Compare with the membench that wrote it, or a newer one."
        )


def read_measurement(path: Path) -> Measurement | OtherSchema:
    """The measurement at ``path``.

    Raises StorageError where it cannot be read, and ReportError where it is not a measurement, or where its figures do
    not follow from its ranks.
    """
    with storage_errors("read", path):
        data = path.read_bytes()
    return parse_measurement(data, str(path))


def parse_measurement(data: bytes, origin: str) -> Measurement | OtherSchema:
    """The measurement that ``data`` holds; ``origin`` is how a message calls it. Raises ReportError."""
    remedy = "Restore the file as membench wrote it, or delete it and measure again."
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{origin} is not JSON: {error}", remedy) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        return _other(schema, origin)
    try:
        measurement = Measurement.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ReportError(f"{origin} is not a {SCHEMA}: {where}: {first['msg']}", remedy) from error
    for problem in _contradictions(measurement):
        raise ReportError(f"{origin} contradicts itself: {problem}", remedy)
    return measurement


def observed(measurement: Measurement) -> dict[str, list[Observed]]:
    """The ranks of each level that there is, in the order of the file: what every figure is computed from."""
    found = {"session": [Observed(q.id, q.session_ranks, q.session_observed) for q in measurement.queries]}
    if measurement.metrics.turn is not None:
        found["turn"] = [
            Observed(q.id, q.turn_ranks, q.turn_observed)
            for q in measurement.queries
            if q.turn_ranks and q.turn_observed is not None
        ]
    return found


def _other(schema: Any, origin: str) -> OtherSchema:
    family, _, number = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if family != _FAMILY or not number.isascii() or not number.isdigit() or len(number) > 9:
        shown = json.dumps(schema)
        raise ReportError(
            f"{origin} is not a measurement: its schema is {shown[:80]}, expected {SCHEMA}",
            "Name the file that ends in the arm's name and .json.",
        )
    return OtherSchema(schema, "older" if int(number) < int(SCHEMA.split("/")[1]) else "newer")


def _contradictions(measurement: Measurement) -> Iterator[str]:
    ids = [query.id for query in measurement.queries]
    if len(set(ids)) != len(ids):
        yield "a query stands in it twice"
    for query in measurement.queries:
        turns = None if query.turn_ranks is None else len(query.turn_ranks)
        if len(query.session_ranks) != len(query.gold_sessions) or turns not in (None, len(query.gold_turns)):
            yield f"query {query.id}: its ranks are not as many as its gold"
        if not query.session_ranks:
            yield f"query {query.id}: it is scored and has no gold"
    # Of a part of the queries the figures are another's business: comparing refuses it.
    if len(ids) == measurement.counts.scored:
        for level, queries in observed(measurement).items():
            recorded = getattr(measurement.metrics, level)
            yield from _unlike(level, recorded, figures(queries, measurement.arm.cut_offs))


def _unlike(level: str, recorded: LevelMetrics, computed: Figures) -> Iterator[str]:
    for metric, row in computed.at.items():
        kept: Mapping[str, Any] = getattr(recorded, metric)
        if kept.keys() != {str(k) for k in row}:
            yield f"{level} {metric}: the cut-offs of its figures are not those that its ranks give"
            continue
        for k, figure in row.items():
            one = kept[str(k)]
            same = (one.queries, one.population) == (figure.queries, figure.population)
            if not same or not math.isclose(one.value, figure.value, rel_tol=0, abs_tol=_TOLERANCE):
                yield f"{level} {metric}@{k} is {one.value} over {one.queries} queries, and its ranks give otherwise"
