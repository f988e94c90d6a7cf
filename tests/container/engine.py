"""What runs a container here: Docker where an engine answers, else buildah, which needs none."""

import json
import os
import shlex
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SECONDS_TO_START = 30.0


class Engine(ABC):
    """Runs one image. Each run is a process of this machine, whose output and exit code are the container's."""

    @abstractmethod
    def action(self, name: str, mounts: Mapping[Path, str], environment: Mapping[str, str]) -> list[str]:
        """The command that starts the image's entry point in `/github/workspace`, as the first process there.

        ``mounts`` is a folder of this machine for each one in the container; ``name`` is unique.
        """

    @abstractmethod
    def send(self, name: str, process: subprocess.Popen[str], number: signal.Signals) -> None:
        """Sends a signal to the entry point of the run ``name``, which ``process`` is."""

    @abstractmethod
    def shell(self, script: str) -> str:
        """What ``script`` prints in a container of the image. Raises CalledProcessError if it fails."""

    @abstractmethod
    def close(self) -> None:
        """Removes what this engine made."""


class Docker(Engine):
    def __init__(self, image: str) -> None:
        _output(["docker", "image", "inspect", image])
        self._image = image

    def action(self, name: str, mounts: Mapping[Path, str], environment: Mapping[str, str]) -> list[str]:
        command = ["docker", "run", "--rm", "--name", name, "--workdir", "/github/workspace"]
        for host, inside in mounts.items():
            command += ["--volume", f"{host}:{inside}"]
        for variable, value in environment.items():
            command += ["--env", f"{variable}={value}"]
        return [*command, self._image]

    def send(self, name: str, process: subprocess.Popen[str], number: signal.Signals) -> None:
        subprocess.run(["docker", "kill", "--signal", str(int(number)), name], check=True, capture_output=True)

    def shell(self, script: str) -> str:
        return _output(["docker", "run", "--rm", "--entrypoint", "/bin/sh", self._image, "-c", script])

    def close(self) -> None:
        pass


class Buildah(Engine):
    """All runs share one root file system: to copy it for each takes longer than most of them."""

    def __init__(self, buildah: Sequence[str], image: str) -> None:
        self._buildah = buildah
        self._container = _output([*buildah, "from", "--pull-never", image]).strip()
        described = json.loads(_output([*buildah, "inspect", "--type", "container", self._container]))
        self._entry_point = described["OCIv1"]["config"]["Entrypoint"]

    def action(self, name: str, mounts: Mapping[Path, str], environment: Mapping[str, str]) -> list[str]:
        options = ["--workingdir", "/github/workspace"]
        for host, inside in mounts.items():
            options += ["--volume", f"{host}:{inside}"]
        for variable, value in environment.items():
            options += ["--env", f"{variable}={value}"]
        # The first process of a container ignores signals that it does not handle: `unshare` makes it the first one.
        options += ["--cap-add", "CAP_SYS_ADMIN"]
        return self._run(options, ["unshare", "--pid", "--fork", "--kill-child", *self._entry_point])

    def send(self, name: str, process: subprocess.Popen[str], number: signal.Signals) -> None:
        os.kill(_first_process(process.pid), number)

    def shell(self, script: str) -> str:
        return _output(self._run([], ["/bin/sh", "-c", script]))

    def close(self) -> None:
        _output([*self._buildah, "rm", self._container])

    def _run(self, options: Sequence[str], command: Sequence[str]) -> list[str]:
        return [*self._buildah, "run", "--isolation", "chroot", *options, self._container, "--", *command]


def engine_for(image: str) -> Engine:
    """The engine that `scripts/container/build.sh` has built ``image`` with."""
    prefix = shlex.split(_output([str(ROOT / "scripts/container/engine.sh")]))
    return Docker(image) if prefix == ["docker"] else Buildah(prefix, image)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _first_process(ancestor: int) -> int:
    """The process below ``ancestor`` that is the first of a process namespace of its own."""
    begun = time.monotonic()
    while time.monotonic() - begun < _SECONDS_TO_START:
        for pid in _below(ancestor):
            status = Path(f"/proc/{pid}/status").read_text()
            ids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
            if len(ids) > 1 and ids[-1] == "1":
                return pid
        time.sleep(0.05)
    raise TimeoutError(f"no container below process {ancestor}")


def _below(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *_below(child)]
    return found
