"""The provenance file: what varies from night to night. It is kept beside a measurement and never compared."""

import os
import platform
import resource
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

import numpy as np
from pydantic import Field

from membench.reports.model import Report
from membench.ruler.latency import Latency

SCHEMA: Final = "membench.provenance/1"
_LIBRARIES = ("membench", "llama-cpp-python", "faiss-cpu", "bm25s", "numpy", "gguf")


class Host(Report):
    """The machine and the interpreter."""

    system: str
    machine: str
    processor: str | None
    cores: int
    python: str


class Embedding(Report):
    """Distinct texts taken from the vector cache and put through the model, by all arms of the run together."""

    workers: int
    cached: int
    computed: int


class Seconds(Report):
    """Wall time: of the whole run, of this arm's writes (embedding included), and of its searches."""

    run: float
    ingest: float
    search: float


class Calls(Report):
    """How long the calls of one kind took, in milliseconds, and units or queries a second while they were asked."""

    calls: int
    items: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    per_second: float


class Source(Report):
    """Whose code was measured: a repository, the commit that was checked out, and the address of the workflow's run."""

    repository: str
    commit: str | None
    run: str | None


class ShardRun(Report):
    """How one of the shards that were merged was measured. ``shard`` is `2/4` for instance."""

    shard: str
    started: str
    seconds: Seconds
    embedding: Embedding | None
    resumed: int
    peak_memory_mb: float
    host: Host


class Provenance(Report):
    """One arm's. ``source`` is null outside of a workflow. ``writes`` and ``searches`` are null where there were none,
    and of merged shards. ``executor`` says who measured; ``resumed`` counts the pools that an earlier run of the same
    arm had finished when it was killed. ``shards`` is null where nothing was merged; where it was, seconds and texts
    are sums over the shards and the memory is the largest.

    ``rankings_sha256`` is of the lines before they are compressed. ``started`` is ISO 8601 in UTC, ``peak_memory_mb``
    the largest resident size of the process so far.
    """

    schema_: Literal["membench.provenance/1"] = Field(alias="schema")
    measurement_sha256: str
    rankings_sha256: str
    command: list[str]
    source: Source | None
    started: str
    executor: str
    resumed: int
    shards: list[ShardRun] | None
    seconds: Seconds
    embedding: Embedding | None
    writes: Calls | None
    searches: Calls | None
    peak_memory_mb: float
    host: Host
    versions: dict[str, str]


def calls_of(latency: Latency) -> Calls | None:
    """The quantiles and the rate of ``latency``, interpolated as numpy does."""
    if not latency.seconds:
        return None
    p50, p95, p99 = (round(float(one) * 1e3, 3) for one in np.quantile(latency.seconds, (0.5, 0.95, 0.99)))
    return Calls(
        calls=len(latency.seconds),
        items=latency.items,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        per_second=round(latency.items / max(sum(latency.seconds), 1e-9), 1),
    )


def host() -> Host:
    """The machine that this process runs on."""
    return Host(
        system=platform.platform(),
        machine=platform.machine(),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        python=platform.python_version(),
    )


def versions() -> dict[str, str]:
    """Of the libraries that take part in a measurement."""
    return {name: version(name) for name in _LIBRARIES} | {"sqlite": sqlite3.sqlite_version}


def peak_memory_mb() -> float:
    """The largest resident size of this process so far, in 10^6 bytes."""
    status = _proc_lines("self/status")
    peak = next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), None)
    if peak is None:
        # Only where there is no /proc: a child's figure here begins with its parent's.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return round(peak / 1e6, 1)


def _processor() -> str | None:
    models = (line.split(":", 1)[1].strip() for line in _proc_lines("cpuinfo") if line.startswith("model name"))
    return next(models, platform.processor() or None)


def _proc_lines(name: str) -> list[str]:
    try:
        return Path("/proc", name).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
