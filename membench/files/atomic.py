"""Files that are either whole or not there."""

import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from membench.files.failures import storage_errors

_TEMPORARY = ".membench-"


def write_atomic(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step, creating its folders.

    Raises StorageError when it cannot be written; whatever stood at ``path`` is then still there, unchanged.
    """
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_together(files: Mapping[Path, bytes]) -> None:
    """Put several files in place, none before all of them are written, so that a full disk leaves what stood there.

    Raises StorageError about the one that cannot be written. They move in reverse order, the first of them last.
    """
    with ExitStack() as stack:
        for path, data in files.items():
            stack.enter_context(atomic_path(path)).write_bytes(data)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path for the body to write; when the body ends well, the file moves to ``path`` in one step.

    The temporary path lies in the folder of ``path``, has its suffix, and does not exist yet. After any exception, a
    KeyboardInterrupt included, it is removed and ``path`` is as it was. An OSError, also one of the body, becomes a
    StorageError about ``path``.
    """
    temporary = path.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}{path.suffix}")
    try:
        with storage_errors("written", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            replace_durably(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def replace_durably(source: Path, target: Path) -> None:
    """Move a finished file to ``target`` on the same file system, after its bytes have reached the disk.

    Raises OSError.
    """
    with source.open("rb+") as file:
        os.fsync(file.fileno())
    source.replace(target)


def ensure_writable(folder: Path) -> None:
    """Create ``folder`` and prove that a file can be written in it.

    Raises StorageError when it cannot.
    """
    with storage_errors("written", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=_TEMPORARY) as probe:
            probe.write(b"membench")
            probe.flush()
