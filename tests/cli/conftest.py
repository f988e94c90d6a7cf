"""The real command, in processes of its own, over cache folders of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path

Finished = subprocess.CompletedProcess[str]


def _ready(limit: int | None) -> None:
    # A shell that starts the tests in the background leaves SIGINT ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


class Command:
    """`membench` with one cache folder, started in one working folder."""

    def __init__(self, cache: Path, folder: Path) -> None:
        self.cache = cache
        self.folder = folder

    def start(self, *arguments: object, largest_file: int | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "membench", *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "MEMBENCH_CACHE": str(self.cache), "TERM": "dumb", "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: _ready(largest_file),
        )

    def finish(self, process: subprocess.Popen[str]) -> Finished:
        try:
            output, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        assert "Traceback" not in errors, errors
        return Finished(process.args, process.returncode, output, errors)

    def __call__(self, *arguments: object, largest_file: int | None = None) -> Finished:
        return self.finish(self.start(*arguments, largest_file=largest_file))

    def all(self, commands: Sequence[Sequence[object]]) -> list[Finished]:
        """Run ``commands``, two at a time."""
        finished = []
        for place in range(0, len(commands), 2):
            pair = [self.start(*arguments) for arguments in commands[place : place + 2]]
            finished += [self.finish(process) for process in pair]
        return finished

    def reports(self, name: str = "reports") -> list[str]:
        folder = self.folder / name
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture(scope="session")
def new_command(default_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Command]:
    """A command over a new cache folder that holds the default model and nothing else."""
    pin = MODELS[DEFAULT_MODEL]

    def make() -> Command:
        base = tmp_path_factory.mktemp("command")
        model = model_path(pin, base / "cache")
        model.parent.mkdir(parents=True)
        model.symlink_to(default_model)
        (base / "work").mkdir()
        return Command(base / "cache", base / "work")

    return make


@pytest.fixture
def membench(new_command: Callable[[], Command]) -> Command:
    return new_command()
