"""A real Dask cluster on the loopback interface: its scheduler and its workers are processes of their own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def cache_with(model: Path | None, root: Path) -> Path:
    """A cache folder that holds the default model, if any, and nothing else."""
    root.mkdir(parents=True)
    if model is not None:
        path = model_path(MODELS[DEFAULT_MODEL], root)
        path.parent.mkdir()
        path.symlink_to(model)
    return root


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


class DaskCluster:
    """A scheduler; a worker has joined when `start_worker` returns. A context manager: it ends what it began."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.workers: list[subprocess.Popen[bytes]] = []
        host, _, port = self.address.removeprefix("tcp://").partition(":")
        self.scheduler = self._started("scheduler", environment, "--host", host, "--port", port)
        self._await(lambda: _listens(host, int(port)), self.scheduler, "scheduler")

    def start_worker(self, cache: Path, *, nanny: bool = False, **environment: str) -> subprocess.Popen[bytes]:
        name = f"w{len(self.workers)}"
        asked = ("--nthreads", "1", "--name", name, "--nanny" if nanny else "--no-nanny")
        environment = {"MEMBENCH_CACHE": str(cache), **environment}
        self.workers.append(self._started("worker", environment, self.address, *asked))
        self._await(lambda: "Registered to" in self.log(name), self.workers[-1], name)
        return self.workers[-1]

    def worker_of(self, name: str) -> subprocess.Popen[bytes]:
        return self.workers[int(name.removeprefix("w"))]

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def __enter__(self) -> "DaskCluster":
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _await(self, ready: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
        deadline = time.monotonic() + 120
        while not ready():
            assert process.poll() is None, self.log(name)
            assert time.monotonic() < deadline, self.log(name)
            time.sleep(0.05)

    def _started(self, verb: str, environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[bytes]:
        self.folder.mkdir(exist_ok=True)
        name = verb if verb == "scheduler" else f"w{len(self.workers)}"
        scratch = {"DASK_TEMPORARY_DIRECTORY": str(self.folder), "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s"}
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", verb, "--no-dashboard", *arguments],
                cwd=self.folder,
                env={**os.environ, **scratch, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
