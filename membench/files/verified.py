"""A pinned file in the cache folder: hashed before every use, thrown away when it is not what it should be."""

from pathlib import Path

from membench.errors import InstrumentError
from membench.files.digest import sha256_of
from membench.files.failures import storage_errors


def verified_file(path: Path, *, sha256: str, size: int, name: str, fetch: str, error: type[InstrumentError]) -> Path:
    """``path``, hashed now. Raises ``error`` if it is absent, or is not the pinned bytes: then it is removed too.

    ``name`` is how a message calls it ("the model x"); ``fetch`` is the command that fetches it.
    """
    remedy = f"Run: {fetch}"
    if not path.is_file():
        raise error(f"{name} is not in the cache: {path} does not exist", remedy)
    found = sha256_of(path)
    if found == sha256:
        return path
    found_size = path.stat().st_size
    with storage_errors("written", path):
        path.unlink()
    raise error(
        f"{name} was damaged and has been removed: {path} had SHA-256 {found} ({found_size:,} bytes), "
        f"expected {sha256} ({size:,} bytes)",
        remedy,
    )
