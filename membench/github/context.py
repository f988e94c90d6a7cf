"""What the runner says about the run: the variables of its environment and the event."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """Where and why the action runs; None where the runner does not say.

    ``output`` and ``summary`` are the files that the runner reads. ``branch`` is the one that the run is of, None for a
    tag or a pull request.
    """

    workspace: Path
    event: str
    repository: str
    branch: str | None
    server_url: str
    api_url: str
    run_url: str | None
    output: Path | None
    summary: Path | None
    from_fork: bool
    commit: str | None

    @property
    def web_url(self) -> str:
        """The repository's address in a browser."""
        return f"{self.server_url}/{self.repository}"


def read_context(environment: Mapping[str, str]) -> Context:
    """The run as ``environment`` tells it. Nothing in it is required: what is missing is left out."""
    ref = environment.get("GITHUB_REF", "")
    server = environment.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    repository = environment.get("GITHUB_REPOSITORY", "")
    run = environment.get("GITHUB_RUN_ID", "")
    return Context(
        workspace=Path(environment.get("GITHUB_WORKSPACE") or Path.cwd()).absolute(),
        event=environment.get("GITHUB_EVENT_NAME", ""),
        repository=repository,
        branch=ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None,
        server_url=server,
        api_url=environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
        run_url=f"{server}/{repository}/actions/runs/{run}" if run and repository else None,
        output=_path(environment, "GITHUB_OUTPUT"),
        summary=_path(environment, "GITHUB_STEP_SUMMARY"),
        from_fork=_is_fork(_event(environment)),
        commit=environment.get("GITHUB_SHA") or None,
    )


def _path(environment: Mapping[str, str], name: str) -> Path | None:
    return Path(environment[name]) if environment.get(name) else None


def _event(environment: Mapping[str, str]) -> Any:
    path = _path(environment, "GITHUB_EVENT_PATH")
    try:
        return json.loads(path.read_bytes()) if path else {}
    except (OSError, ValueError):
        return {}


def _is_fork(event: Any) -> bool:
    repository = event.get("repository") if isinstance(event, dict) else None
    return isinstance(repository, dict) and repository.get("fork") is True
