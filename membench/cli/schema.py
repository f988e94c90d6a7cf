"""`membench schema`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from membench.reports.comparison import Comparison, Comparisons
from membench.reports.measurement import Measurement
from membench.reports.model import Report
from membench.reports.provenance import Provenance


class Name(StrEnum):
    """The files that have a published schema."""

    MEASUREMENT = "measurement"
    PROVENANCE = "provenance"
    COMPARISON = "comparison"
    COMPARISONS = "comparisons"


_MODELS: dict[Name, type[Report]] = {
    Name.MEASUREMENT: Measurement,
    Name.PROVENANCE: Provenance,
    Name.COMPARISON: Comparison,
    Name.COMPARISONS: Comparisons,
}


def schema_command(
    name: Annotated[Name, typer.Argument(help="Which file.")] = Name.MEASUREMENT,
) -> None:
    """Print the JSON Schema of a file that membench writes.

    Example: membench schema measurement
    """
    typer.echo(json.dumps(_MODELS[name].model_json_schema(by_alias=True), indent=2, ensure_ascii=False))
