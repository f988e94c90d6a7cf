"""Nights of the action against the local GitHub: real measurements, a real clone, the real path from end to end."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from membench.github.action import run_action
from membench.github.context import read_context
from membench.github.inputs import read_inputs
from membench.github.proposal import repository
from membench.metrics.aggregate import Observed, figures
from membench.reports.build import level_metrics
from membench.reports.canonical import canonical_json
from membench.reports.naming import stem_of

HURRIED = repository.Patience(attempts=2, first_wait=0.01, longest_wait=1, timeout=5, between_writes=0.0)


def worse(measurement, count, rank=9):
    """The same measurement of a memory that finds the session that ``count`` queries want at ``rank``.

    Every figure follows from the ranks, as in any measurement.
    """
    queries, left = [], count
    for query in measurement.queries:
        if left and query.session_ranks == [1] and query.session_observed >= rank:
            query = query.model_copy(update={"session_ranks": [rank, *query.session_ranks[1:]]})
            left -= 1
        queries.append(query)
    assert not left

    def with_figures(part, of):
        observed = [Observed(q.id, q.session_ranks, q.session_observed) for q in of]
        session = level_metrics(figures(observed, measurement.arm.cut_offs))
        return part.model_copy(update={"metrics": part.metrics.model_copy(update={"session": session})})

    categories = [
        with_figures(one, [q for q in queries if q.category == one.number]) for one in measurement.by_category
    ]
    whole = with_figures(measurement, queries)
    return whole.model_copy(update={"queries": queries, "by_category": categories})


@dataclass
class Night:
    """What one night came to."""

    workspace: Path
    outputs: dict[str, str]
    summary: str
    log: str
    pulls: int
    commits: int
    pings: list[str] = field(default_factory=list)


class Nights:
    """One workflow, night after night, each on a fresh clone of the base."""

    def __init__(self, hub, folder: Path, capsys) -> None:
        self.hub = hub
        self.folder = folder
        self.capsys = capsys
        self.count = 0

    def night(self, *measurements, files: Mapping[str, bytes] | None = None, env=None, **inputs) -> Night:
        """``measurements`` are there to be compared; ``files`` too, by their paths in the workspace."""
        self.count += 1
        self.hub.state.clock.advance(days=1)
        workspace = self.folder / f"night-{self.count}"
        clone = ["git", "clone", "--quiet", "--branch", self.hub.default_branch, str(self.hub.git_dir), str(workspace)]
        subprocess.run(clone, check=True)
        measured = {f"measured/{stem_of(one)}.json": canonical_json(one) for one in measurements}
        for name, body in {**measured, **(files or {})}.items():
            path = workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        environment = {
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_REPOSITORY": self.hub.full_name,
            "GITHUB_REF": f"refs/heads/{self.hub.default_branch}",
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_SERVER_URL": "https://github.test",
            "GITHUB_RUN_ID": str(1000 + self.count),
            "GITHUB_OUTPUT": str(workspace / "output"),
            "GITHUB_STEP_SUMMARY": str(workspace / "summary.md"),
            "INPUT_GITHUB-TOKEN": self.hub.token,
            "INPUT_MEASUREMENTS": "measured",
            "INPUT_CORPUS": "sample",
            **{f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()},
            **(env or {}),
        }
        before = len(self.hub.pull_requests), self._commits(), len(self.hub.pings)
        self.capsys.readouterr()
        here = Path.cwd()
        os.chdir(workspace)
        try:
            run_action(read_inputs(environment, workspace), read_context(environment))
        finally:
            os.chdir(here)
        return Night(
            workspace=workspace,
            outputs=read_outputs(workspace / "output"),
            summary=(workspace / "summary.md").read_text(encoding="utf-8"),
            log=self.capsys.readouterr().out,
            pulls=len(self.hub.pull_requests) - before[0],
            commits=self._commits() - before[1],
            pings=[ping.event for ping in self.hub.pings[before[2] :]],
        )

    def _commits(self) -> int:
        """The commits that the action has made, whatever became of them."""
        return sum(one.method == "POST" and one.path.endswith("/git/commits") for one in self.hub.writes)


def read_outputs(path: Path) -> dict[str, str]:
    found = {}
    lines = iter(path.read_text(encoding="utf-8").split("\n"))
    for line in filter(None, lines):
        name, end = line.split("<<")
        found[name] = "\n".join(iter(lambda end=end: next(lines), end))
    return found
