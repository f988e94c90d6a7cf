"""`membench schema`."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from membench.memories.bridges.schema import http_openapi, memory_schema
from membench.memories.check.report import CheckReport
from membench.reports.comparison import Comparison, Comparisons
from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance


class Name(StrEnum):
    """What has a published schema: the files that membench writes, and what it says to a memory of the caller's own."""

    MEASUREMENT = "measurement"
    PROVENANCE = "provenance"
    COMPARISON = "comparison"
    COMPARISONS = "comparisons"
    MEMORY_CHECK = "memory-check"
    MEMORY = "memory"
    HTTP = "http"


_MODELS: dict[Name, type[BaseModel]] = {
    Name.MEASUREMENT: Measurement,
    Name.PROVENANCE: Provenance,
    Name.COMPARISON: Comparison,
    Name.COMPARISONS: Comparisons,
    Name.MEMORY_CHECK: CheckReport,
}


def schema_command(
    name: Annotated[
        Name, typer.Argument(help="Of which file; memory: the lines of a command; http: OpenAPI.")
    ] = Name.MEASUREMENT,
) -> None:
    """Print the JSON Schema of a file that membench writes, or of what is said to a memory of your own.

    Example: membench schema measurement

    Example of the OpenAPI document of an HTTP memory: membench schema http
    """
    typer.echo(json.dumps(_schema(name), indent=2, ensure_ascii=False))


def _schema(name: Name) -> dict[str, Any]:
    if name is Name.MEMORY:
        return memory_schema()
    if name is Name.HTTP:
        return http_openapi()
    return _MODELS[name].model_json_schema(by_alias=True)
