"""The real command, in processes of its own, over cache folders of its own."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path

Finished = subprocess.CompletedProcess[str]

_FORKING = """
    import json, os, sys
    import membench.cli.app
    from membench.cli import main
    for line in sys.stdin:
        arguments, output, errors = json.loads(line)
        child = os.fork()
        if child == 0:
            for name, stream in ((output, 1), (errors, 2)):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), stream)
            sys.argv = ["membench", *arguments]
            main()
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def _ready(limit: int | None) -> None:
    # A shell that starts the tests in the background leaves SIGINT ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if limit is not None:
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
            env=self.environment(),
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
        """Run ``commands``, each in a process of its own that a warm one forks: importing takes longer than they do."""
        asked = [[str(argument) for argument in arguments] for arguments in commands]
        with tempfile.TemporaryDirectory() as folder:
            requests = [(one, f"{folder}/{place}.out", f"{folder}/{place}.err") for place, one in enumerate(asked)]
            served = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(_FORKING)],
                cwd=self.folder,
                env=self.environment(),
                input="".join(f"{json.dumps(request)}\n" for request in requests),
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert served.returncode == 0, served.stderr
            codes = map(int, served.stdout.split())
            finished = [
                Finished(arguments, code, Path(out).read_text(), Path(err).read_text())
                for (arguments, out, err), code in zip(requests, codes, strict=True)
            ]
        for one in finished:
            assert "Traceback" not in one.stderr, one.stderr
        return finished

    def environment(self) -> dict[str, str]:
        return {**os.environ, "MEMBENCH_CACHE": str(self.cache), "TERM": "dumb", "PYTHONUTF8": "1"}

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
