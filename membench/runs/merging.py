"""Shards into the measurement that one machine would have made, to the byte."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from membench.errors import UsageError
from membench.files.atomic import ensure_writable
from membench.reports.provenance import (
    SCHEMA,
    Embedding,
    Provenance,
    Seconds,
    ShardRun,
    Source,
    host,
    versions,
)
from membench.reports.shard import ShardFile, by_arm, read_shard
from membench.runs.outcome import Outcome, write_outcome

SHARD_FILES = "*.shard-*-of-*.json"


def run_merge(
    paths: Sequence[Path],
    *,
    report_dir: Path,
    command: list[str],
    templates: Path | None = None,
    source: Source | None = None,
) -> list[Outcome]:
    """Merges the shards at ``paths``, files or folders that hold some, and writes each arm as `run_retrieval` does.

    Raises UsageError where they are not all shards of their arms, each once and all measured alike, ReportError for a
    file that is no shard, or not as it was measured. Then nothing is written.
    """
    ensure_writable(report_dir)
    groups = by_arm([read_shard(path) for path in _files(paths)])
    return [_merged(group, report_dir, command, templates, source) for group in groups]


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(SHARD_FILES))
        if not found:
            raise UsageError(f"{path} holds no shard: expected files named {SHARD_FILES}.")
        yield from found


def _merged(
    group: Sequence[ShardFile], report_dir: Path, command: list[str], templates: Path | None, source: Source | None
) -> Outcome:
    runs = [file.shard.run for file in group]

    def provenance_of(measurement: str, rankings: str) -> Provenance:
        return Provenance(
            schema=SCHEMA,
            measurement_sha256=measurement,
            rankings_sha256=rankings,
            command=command,
            source=source,
            started=min(run.started for run in runs),
            executor="merged",
            resumed=sum(run.resumed for run in runs),
            shards=runs,
            seconds=_seconds(runs),
            embedding=_embedding(runs),
            writes=None,
            searches=None,
            peak_memory_mb=max(run.peak_memory_mb for run in runs),
            host=host(),
            versions=versions(),
        )

    parts = [part for file in group for part in file.shard.body.parts]
    return write_outcome(group[0].shard.body.head, parts, provenance_of, report_dir, templates)


def _seconds(runs: Sequence[ShardRun]) -> Seconds:
    sums = {name: round(sum(getattr(run.seconds, name) for run in runs), 3) for name in Seconds.model_fields}
    return Seconds(**sums)


def _embedding(runs: Sequence[ShardRun]) -> Embedding | None:
    counted = [run.embedding for run in runs if run.embedding is not None]
    if not counted:
        return None
    return Embedding(
        **{name: sum(getattr(embedding, name) for embedding in counted) for name in Embedding.model_fields}
    )
