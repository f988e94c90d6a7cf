"""What the operating system refuses, told as a StorageError that says what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from membench.errors import StorageError

_NO_SPACE = "Free some space, or choose another folder."
_NO_PERMISSION = "Give this user the right to do so, or choose another folder."
_FILE_IN_THE_WAY = "A file stands where a folder is needed: move it away, or choose another path."

_REMEDIES = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: "Raise the limit on the size of a file (ulimit -f), or choose a folder on another file system.",
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EROFS: "That file system is read-only: choose another folder.",
    errno.ENOTDIR: _FILE_IN_THE_WAY,
    errno.EEXIST: _FILE_IN_THE_WAY,
    errno.EISDIR: "That is a folder: name a file.",
    errno.ENOENT: "Check that the path is right.",
}


@contextmanager
def storage_errors(action: Literal["read", "written"], path: Path) -> Iterator[None]:
    """Turn an OSError of the body into a StorageError: ``path`` cannot be read or written, why, and the remedy."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "Check the disk and the path, then try again.")
        raise StorageError(f"{path} cannot be {action}: {error.strerror or error}", remedy) from error
