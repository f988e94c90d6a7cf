"""GitHub's runner, as far as a container action sees it: mounts, environment, command files, signals."""

import json
import os
import re
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from container.engine import ROOT, Engine

RUNNER_UID = 1001
_SECONDS = 600.0
_COMMAND_FILES = ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH", "STATE")


@dataclass(frozen=True)
class Result:
    """A step that has ended. ``log`` is both streams as they came; ``files`` are the workspace's, relative to it."""

    exit_code: int
    log: str
    outputs: dict[str, str]
    summary: str
    files: dict[str, Path]
    seconds: float

    def lines(self, command: str) -> list[str]:
        """The workflow commands of that name in the log, whole."""
        return [line for line in self.log.splitlines() if re.match(rf"::{command}[ :]", line)]


class Step:
    """A step that is running."""

    def __init__(self, runner: "Runner", name: str, command: list[str], step_files: Mapping[str, Path]) -> None:
        self._runner = runner
        self._name = name
        self._files = step_files
        self._begun = time.monotonic()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._log.append(line)

    @property
    def log(self) -> str:
        """What it has written so far."""
        return "".join(self._log)

    def wait_for(self, sign: str, seconds: float = 60.0) -> None:
        """Returns when ``sign`` is in the log, or a file matches it as a pattern in the workspace."""
        limit = time.monotonic() + seconds
        while sign not in self.log and not any(self._runner.workspace.glob(sign)):
            if self._process.poll() is not None or time.monotonic() > limit:
                raise AssertionError(f"{sign!r} did not come:\n{self.log}")
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> float:
        """Sends the signal and returns how many seconds it then took the container to end."""
        begun = time.monotonic()
        self._runner.engine.send(self._name, self._process, number)
        self._process.wait(_SECONDS)
        return time.monotonic() - begun

    def result(self) -> Result:
        """Waits for the end."""
        exit_code = self._process.wait(_SECONDS)
        seconds = time.monotonic() - self._begun
        self._reader.join()
        return Result(
            exit_code=exit_code,
            log=self.log,
            outputs=_outputs(self._files["OUTPUT"].read_text()),
            summary=self._files["STEP_SUMMARY"].read_text(),
            files=self._runner.files(),
            seconds=seconds,
        )


class Runner:
    """One job on one machine: its workspace and home stay from step to step, and belong to the runner's user."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.workspace = folder / "work"
        self.home = folder / "_temp/_github_home"
        self._workflow = folder / "_temp/_github_workflow"
        self._command_files = folder / "_temp/_runner_file_commands"
        for path in (self.workspace, self.home, self._workflow, self._command_files):
            path.mkdir(parents=True)
        self.give_to_runner()

    def give_to_runner(self) -> None:
        """Makes everything in workspace and home the runner's own, as a checkout would. Without root it is already."""
        if os.geteuid() == 0:
            for path in (self.workspace, *self.workspace.rglob("*"), self.home, *self.home.rglob("*")):
                os.chown(path, RUNNER_UID, RUNNER_UID, follow_symlinks=False)

    def files(self) -> dict[str, Path]:
        """The files of the workspace."""
        found = (path for path in self.workspace.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {str(path.relative_to(self.workspace)): path for path in sorted(found)}

    def of_another_owner(self) -> list[str]:
        """What in workspace and home does not belong to the runner: the next checkout cannot remove it."""
        owner = self.workspace.stat().st_uid
        everything = (*self.workspace.rglob("*"), *self.home.rglob("*"))
        return [str(path) for path in everything if path.lstat().st_uid != owner]

    def run(
        self,
        inputs: Mapping[str, str] | None = None,
        event: Mapping[str, Any] | None = None,
        token: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Result:
        """Runs the step to its end."""
        return self.start(inputs, event, token, env).result()

    def start(
        self,
        inputs: Mapping[str, str] | None = None,
        event: Mapping[str, Any] | None = None,
        token: str = "",
        env: Mapping[str, str] | None = None,
    ) -> Step:
        """Starts the step: ``inputs`` are its `with:`, ``token`` the job's, ``env`` is added to the environment."""
        name = f"membench-{secrets.token_hex(8)}"
        files = {kind: self._command_files / f"{kind.lower()}_{secrets.token_hex(8)}" for kind in _COMMAND_FILES}
        for path in files.values():
            path.touch()
        (self._workflow / "event.json").write_text(json.dumps(event or {}))
        environment = {
            **_inputs({**defaults(token), **(inputs or {})}),
            **_CONSTANT,
            **{f"GITHUB_{kind}": f"/github/file_commands/{path.name}" for kind, path in files.items()},
            **(env or {}),
        }
        mounts = {
            self.home: "/github/home",
            self._workflow: "/github/workflow",
            self._command_files: "/github/file_commands",
            self.workspace: "/github/workspace",
        }
        return Step(self, name, self.engine.action(name, mounts, environment), files)


_CONSTANT = {
    "CI": "true",
    "HOME": "/github/home",
    "GITHUB_ACTION": "__run",
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "octocat",
    # No service is there: whatever calls GitHub without need fails.
    "GITHUB_API_URL": "http://127.0.0.1:9",
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_EVENT_PATH": "/github/workflow/event.json",
    "GITHUB_JOB": "measure",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_REF_TYPE": "branch",
    "GITHUB_REPOSITORY": "octocat/agent",
    "GITHUB_REPOSITORY_OWNER": "octocat",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_RUN_ID": "1",
    "GITHUB_RUN_NUMBER": "1",
    "GITHUB_SERVER_URL": "http://127.0.0.1:9",
    "GITHUB_SHA": "0" * 40,
    "GITHUB_WORKFLOW": "membench",
    "GITHUB_WORKSPACE": "/github/workspace",
    "RUNNER_ARCH": "X64",
    "RUNNER_OS": "Linux",
}


def action() -> dict[str, Any]:
    """`action.yml`."""
    return yaml.safe_load((ROOT / "action.yml").read_text())


def defaults(token: str) -> dict[str, str]:
    """The inputs that a workflow leaves out, as the runner fills them in."""
    return {
        name: str(described.get("default", "")).replace("${{ github.token }}", token)
        for name, described in action()["inputs"].items()
    }


def _inputs(values: Mapping[str, str]) -> dict[str, str]:
    return {f"INPUT_{name.upper().replace(' ', '_')}": value for name, value in values.items()}


def _outputs(text: str) -> dict[str, str]:
    return dict(_parse_outputs(iter(text.splitlines())))


def _parse_outputs(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if block := re.fullmatch(r"([^=]+?)<<(.+)", line):
            value = []
            for inner in lines:
                if inner == block[2]:
                    break
                value.append(inner)
            else:
                raise AssertionError(f"the output {block[1]} has no end")
            yield block[1], "\n".join(value)
        else:
            name, equals, value = line.partition("=")
            assert equals, f"no output: {line!r}"
            yield name, value
