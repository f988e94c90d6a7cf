"""The source of this package, as a digest."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def source_digest() -> str:
    """Changes with every change of this package: another ranking must not go on with what this one found."""
    digest = hashlib.sha256()
    folder = Path(str(files("membench")))
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
