"""What was measured, as JSON for a program to read."""

import json
from typing import Any

import typer

from membench.runs.outcome import Outcome
from membench.runs.retrieval import ShardOutcome


def echo_outcomes(outcomes: list[Outcome]) -> None:
    """Prints an array with an object for each measurement."""
    typer.echo(json.dumps([_measurement(outcome) for outcome in outcomes], indent=2))


def echo_shards(shards: list[ShardOutcome]) -> None:
    """Prints an array with an object for each shard."""
    typer.echo(json.dumps([_shard(shard) for shard in shards], indent=2))


def _measurement(outcome: Outcome) -> dict[str, Any]:
    measurement = outcome.measurement
    return {
        "stem": outcome.stem,
        "status": measurement.status,
        "reasons": measurement.reasons,
        "measurement": str(outcome.measurement_path),
        "report": str(outcome.report_path),
        "counts": measurement.counts.model_dump(),
        "metrics": measurement.metrics.model_dump(mode="json"),
        "omitted": [omitted.model_dump() for omitted in measurement.omitted],
        "seconds": outcome.provenance.seconds.model_dump(),
    }


def _shard(outcome: ShardOutcome) -> dict[str, Any]:
    shard = outcome.shard
    return {
        "arm": f"{shard.body.head.corpus.key}.{shard.body.head.arm.name}",
        "shard": shard.run.shard,
        "file": str(outcome.path),
        "instances": len(shard.body.parts),
        "resumed": shard.run.resumed,
        "seconds": shard.run.seconds.model_dump(),
    }
