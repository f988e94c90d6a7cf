"""The action as the container starts it, on the sample: what it takes beside writing and searching."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.result import Result
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path
from membench.files.paths import cache_root
from membench.reports.provenance import Provenance

_OWN_SHARE_AT_MOST_S = 5.0
_ENTRYPOINT = Path(__file__).parents[1] / "entrypoint.py"
_TIMELINES = ("now", "anchored")


def benchmarks() -> Iterator[Result]:
    """Its own share of a run with an empty cache, and of a second one."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        for name in ("the first run", "a second run"):
            whole, own = _seconds(workspace)
            yield Result(
                f"the action on the sample, {name}: beside ingest and search",
                f"{own:.1f} s of {whole:.1f} s",
                f"at most {_OWN_SHARE_AT_MOST_S:g} s",
                own <= _OWN_SHARE_AT_MOST_S,
            )


def _seconds(workspace: Path) -> tuple[float, float]:
    bundled = model_path(MODELS[DEFAULT_MODEL], cache_root()).parents[1]
    environment = {
        **os.environ,
        "MEMBENCH_BUNDLED": str(bundled),
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_STEP_SUMMARY": str(workspace / "summary.md"),
        "GITHUB_OUTPUT": str(workspace / "output"),
        "INPUT_CORPUS": "sample",
        "INPUT_TIMELINES": " ".join(_TIMELINES),
    }
    begun = perf_counter()
    subprocess.run([sys.executable, str(_ENTRYPOINT)], check=True, capture_output=True, cwd=workspace, env=environment)
    whole = perf_counter() - begun
    measuring = 0.0
    for timeline in _TIMELINES:
        path = workspace / "membench-reports" / f"sample.{timeline}.provenance.json"
        seconds = Provenance.model_validate_json(path.read_bytes()).seconds
        measuring += seconds.ingest + seconds.search
    return whole, whole - measuring
