"""What a memory can leave behind around it: files in the temporary folder, processes, threads."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_GRACE = 2.0
_PAUSE = 0.05
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is there, each by a name that tells a reader what it is."""

    things: frozenset[str]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``temporary`` is the temporary folder of this process and its children alone, None where nobody looks.

    ``threads`` and ``processes``: whether to look for them, too.
    """

    temporary: Path | None
    threads: bool
    processes: bool

    @property
    def watched(self) -> str:
        """What is looked at, for a reader; empty where nothing is."""
        processes = self.processes and _PROC.is_dir()
        seen = [
            ("temporary files", self.temporary is not None),
            ("processes", processes),
            ("threads", self.threads),
        ]
        return ", ".join(name for name, looked_at in seen if looked_at)

    def now(self) -> Snapshot:
        """What is there now."""
        return Snapshot(frozenset([*self._files(), *self._processes(), *self._threads()]))

    def left_since(self, before: Snapshot) -> list[str]:
        """What is there and was not, once it has had two seconds to go."""
        deadline = time.monotonic() + _GRACE
        while (left := self.now().things - before.things) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        return sorted(left)

    def _files(self) -> Iterator[str]:
        if self.temporary is not None:
            for folder, folders, files in os.walk(self.temporary):
                for name in (*folders, *files):
                    yield f"file {os.path.relpath(os.path.join(folder, name), self.temporary)}"  # noqa: PTH118

    def _threads(self) -> Iterator[str]:
        if self.threads:
            for thread in threading.enumerate():
                yield f"thread {thread.name} ({thread.ident})"

    def _processes(self) -> Iterator[str]:
        if self.processes:
            yield from _descendants(os.getpid())


def _descendants(ancestor: int) -> Iterator[str]:
    """The living descendants of a process, from /proc; none on a system without it."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in _PROC.glob("[0-9]*"):
        # A process may end while it is being read.
        with suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text(errors="replace")
            name, _, rest = stat.partition("(")[2].rpartition(")")
            state, parent = rest.split()[:2]
            if state not in "ZX":
                parents[int(entry.name)] = int(parent)
                names[int(entry.name)] = name
    found = {ancestor}
    # A parent can have the higher number.
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    for pid in found - {ancestor}:
        yield f"process {names[pid]} ({pid})"


@contextmanager
def own_temporary_folder() -> Iterator[Path]:
    """A temporary folder that this process and those that it starts have to themselves; removed at the end.

    In the system's own one, what others leave there could not be told from what the memory does.
    """
    with tempfile.TemporaryDirectory(prefix="membench-check-", ignore_cleanup_errors=True) as folder:
        # A memory may run a server as another user, who has to pass through.
        Path(folder).chmod(0o711)
        usual, variable = tempfile.tempdir, os.environ.get("TMPDIR")
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = usual
            if variable is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = variable
