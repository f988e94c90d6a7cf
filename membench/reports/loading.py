"""Reading a measurement file back: strictly, and only if it says what its own ranks say."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from membench.errors import ReportError
from membench.files.failures import storage_errors
from membench.reports.measurement import SCHEMA, Measurement
from membench.reports.recomputed import contradictions

_FAMILY = SCHEMA.split("/")[0]
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


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
        where = ".".join(map(_shown, first["loc"])) or "the whole"
        raise ReportError(f"{origin} is not a {SCHEMA}: {where}: {first['msg']}", remedy) from error
    for problem in contradictions(measurement):
        raise ReportError(f"{origin} contradicts itself: {problem}", remedy)
    return measurement


def _other(schema: Any, origin: str) -> OtherSchema:
    family, _, number = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if family != _FAMILY or not _NUMBER.fullmatch(number):
        shown = ascii(schema)[:80] if isinstance(schema, str) else "no string"
        raise ReportError(
            f"{origin} is not a measurement: its schema is {shown}, expected {SCHEMA}",
            "Name the file that ends in the arm's name and .json.",
        )
    return OtherSchema(schema, "older" if int(number) < int(SCHEMA.split("/")[1]) else "newer")


def _shown(part: int | str) -> str:
    # A key of the file may hold anything, and a message goes to a terminal.
    return str(part) if isinstance(part, int) or part.isidentifier() else repr(part)
