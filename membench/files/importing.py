"""Take a pinned file from a local path instead of the network."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from membench.errors import FetchError
from membench.files.atomic import atomic_path
from membench.files.digest import sha256_of
from membench.files.failures import storage_errors
from membench.files.pinned import Progress, require_digest, require_size, silent

_CHUNK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_REMEDY = "Check that it is the very file and version that the catalog names, whole, then import it again."


def import_file(source: Path, target: Path, *, sha256: str, size: int | None, progress: Progress = silent) -> None:
    """Copy ``source`` to ``target`` in one step when it holds the pinned bytes, or is a gzip file of them.

    Raises FetchError when it holds something else (``target`` is then as it was), StorageError when ``source`` cannot
    be read or ``target`` cannot be written.
    """
    compressed = _is_gzip(source) and sha256_of(source) != sha256
    digest = hashlib.sha256()
    done = 0
    with atomic_path(target) as temporary:
        with temporary.open("wb") as file:
            for chunk in _chunks(source, compressed=compressed):
                done += len(chunk)
                if size is not None and done > size:
                    break
                digest.update(chunk)
                file.write(chunk)
                progress(done, size)
        require_size(source, done, size, _REMEDY)
        require_digest(source, digest.hexdigest(), sha256, _REMEDY)


def _is_gzip(source: Path) -> bool:
    with storage_errors("read", source), source.open("rb") as file:
        return file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC


def _chunks(source: Path, *, compressed: bool) -> Iterator[bytes]:
    with storage_errors("read", source), source.open("rb") as file:
        stream = gzip.GzipFile(fileobj=file) if compressed else file
        try:
            while chunk := stream.read(_CHUNK):
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FetchError(f"{source} is a damaged or truncated gzip file: {error}", _REMEDY) from error
