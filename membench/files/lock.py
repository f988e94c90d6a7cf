"""One run at a time in a cache folder."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import AcquireReturnProxy, BaseFileLock, FileLock, Timeout

from membench.errors import BusyError
from membench.files.atomic import ensure_writable, write_atomic
from membench.files.failures import storage_errors
from membench.files.paths import CACHE_VARIABLE


@dataclass(frozen=True)
class Holder:
    """Who holds a cache folder. ``since`` is ISO 8601 in UTC. It informs people; the lock itself is the system's."""

    pid: int
    host: str
    purpose: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} ({self.purpose}, since {self.since})"


@contextmanager
def hold(root: Path, *, purpose: str, wait: float, notify: Callable[[str], None]) -> Iterator[None]:
    """Hold the cache folder ``root``, alone, while the body runs.

    When another holds it, ``notify`` gets one sentence that names the holder and the bound, then up to ``wait`` seconds
    pass (0 or less: none, and no notice). A holder that crashed holds nothing. Raises BusyError when it is still held,
    StorageError when ``root`` cannot be written or locked.
    """
    ensure_writable(root)
    # A soft lock would outlive a crashed holder; a hold that belongs to a thread could not be released by another.
    lock = FileLock(root / "lock", fallback_to_soft=False, thread_local=False)
    note = root / "lock.json"
    with _acquired(lock, root, note, wait, notify):
        try:
            write_atomic(note, _facts(purpose))
            yield
        finally:
            with suppress(OSError):
                note.unlink()


def _acquired(
    lock: BaseFileLock, root: Path, note: Path, wait: float, notify: Callable[[str], None]
) -> AcquireReturnProxy[BaseFileLock]:
    proxy = _try(lock, root, 0)
    if proxy is None and wait > 0:
        notify(f"The cache folder {root} is held by {_holder(note)}; waiting up to {wait:g} s for it.")
        proxy = _try(lock, root, wait)
    if proxy is None:
        raise BusyError(
            f"The cache folder {root} is held by {_holder(note)}; waited {max(wait, 0):g} s for it",
            f"Try again when that run has ended, or set {CACHE_VARIABLE} to another folder.",
        )
    return proxy


def _try(lock: BaseFileLock, root: Path, seconds: float) -> AcquireReturnProxy[BaseFileLock] | None:
    with storage_errors("written", root / "lock"), suppress(Timeout):
        return lock.acquire(timeout=seconds)
    return None


def _facts(purpose: str) -> bytes:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps(asdict(Holder(os.getpid(), platform.node(), purpose, since))).encode()


def _holder(note: Path) -> str:
    try:
        return str(Holder(**json.loads(note.read_bytes())))
    except (OSError, ValueError, TypeError):
        # The holder writes the note just after it has the lock.
        return "a process that has not yet said who it is"
