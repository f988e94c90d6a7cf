"""What runs a container here: Docker where an engine answers, else a changed root, which needs none."""

import json
import os
import shlex
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


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


class Chroot(Engine):
    """An image of buildah, whose root all runs share: to copy it for each would take longer than most of them do.

    The processes are started here and not by `buildah run`, which now and then loses what a command has written.
    """

    def __init__(self, buildah: Sequence[str], image: str) -> None:
        self._buildah = buildah
        self._container = _output([*buildah, "from", "--pull-never", image]).strip()
        self._root = _output([*buildah, "mount", self._container]).strip()
        described = json.loads(_output([*buildah, "inspect", "--type", "container", self._container]))
        self._entry_point = described["OCIv1"]["config"]["Entrypoint"]
        self._environment = dict(entry.split("=", 1) for entry in described["OCIv1"]["config"]["Env"])

    def action(self, name: str, mounts: Mapping[Path, str], environment: Mapping[str, str]) -> list[str]:
        return self._command(mounts, environment, "/github/workspace", self._entry_point)

    def send(self, name: str, process: subprocess.Popen[str], number: signal.Signals) -> None:
        (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(first), number)

    def shell(self, script: str) -> str:
        return _output(self._command({}, {"HOME": "/root"}, "/", ["/bin/sh", "-c", script]))

    def close(self) -> None:
        _output([*self._buildah, "rm", self._container])

    def _command(
        self, mounts: Mapping[Path, str], environment: Mapping[str, str], folder: str, command: Sequence[str]
    ) -> list[str]:
        # The command is the first process of its own namespace, as in any container: it gets no signal that it does not
        # handle. `env` sets variables with a hyphen in their name, which a shell drops.
        start = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-euc", _START, "sh", self._root]
        places = [word for host, inside in mounts.items() for word in (str(host), inside)]
        variables = {"PATH": _PATH, **self._environment, **environment}
        assigned = [f"{variable}={value}" for variable, value in variables.items()]
        return [*start, *places, "--", "env", "--ignore-environment", f"--chdir={folder}", *assigned, *command]


_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_START = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
    mkdir -p "$root$2"
    mount --bind "$1" "$root$2"
    shift 2
done
shift
exec chroot "$root" "$@"
"""


def engine_for(image: str) -> Engine:
    """The engine that `scripts/container/build.sh` has built ``image`` with."""
    prefix = shlex.split(_output([str(ROOT / "scripts/container/engine.sh")]))
    return Docker(image) if prefix == ["docker"] else Chroot(prefix, image)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
