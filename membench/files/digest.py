"""The digest that addresses and checks every fetched file."""

import hashlib
from pathlib import Path

from membench.files.failures import storage_errors


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as 64 lower-case hexadecimal digits.

    Raises StorageError when the file cannot be read.
    """
    with storage_errors("read", path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
