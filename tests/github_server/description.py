"""GitHub's own OpenAPI description, fetched once from its npm package and checked against pinned digests."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from membench.files.atomic import write_atomic
from membench.files.paths import cache_root

PACKAGE = "@octokit/openapi"
VERSION = "23.0.2"
INTEGRITY = "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
MEMBER = "package/generated/api.github.com.json"
MEMBER_SHA256 = "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a"

# Read on import: a test that gives the code under test a cache folder of its own must not make this fetch again.
FOLDER = cache_root() / "openapi" / VERSION

_PATIENCE = 300.0


class UnavailableError(Exception):
    """The description is not cached and cannot be fetched here. Its text is the reason, for ``pytest.skip``."""


@lru_cache(maxsize=1)
def load_description() -> dict[str, Any]:
    """Return the description as parsed JSON, fetching it into the user's cache folder the first time.

    Raises UnavailableError where npm is absent or cannot fetch, ValueError when what came is not what is pinned.
    """
    path = FOLDER / "api.github.com.json"
    description: dict[str, Any] = json.loads(_cached(path) or _fetched(path))
    return description


@lru_cache(maxsize=1)
def why_unavailable() -> str | None:
    """Return None when the description can be used, else the reason why not. It is tried once a process."""
    try:
        load_description()
    except UnavailableError as error:
        return str(error)
    return None


def _cached(path: Path) -> bytes | None:
    data = path.read_bytes() if path.is_file() else b""
    return data if hashlib.sha256(data).hexdigest() == MEMBER_SHA256 else None


def _fetched(path: Path) -> bytes:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "lock", timeout=_PATIENCE), tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        # Another process may have fetched it while this one waited.
        data = _cached(path)
        if data is None:
            data = _member(_packed(Path(folder)))
            write_atomic(path, data)
    return data


def _packed(folder: Path) -> Path:
    """Return the package's tarball, put into ``folder`` by npm with the registry that this machine has set."""
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError(f"npm is absent; it fetches GitHub's OpenAPI description ({PACKAGE}@{VERSION})")
    command = [npm, "pack", f"{PACKAGE}@{VERSION}", "--pack-destination", str(folder)]
    try:
        subprocess.run(command, cwd=folder, env=os.environ, check=True, capture_output=True, timeout=_PATIENCE)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        last = (error.stderr or b"").decode(errors="replace").strip().splitlines()[-1:]
        raise UnavailableError(f"npm could not fetch {PACKAGE}@{VERSION}: {''.join(last) or error}") from error
    return next(folder.glob("*.tgz"))


def _member(tarball: Path) -> bytes:
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    if found != INTEGRITY:
        raise ValueError(f"{PACKAGE}@{VERSION} has the integrity {found}, pinned is {INTEGRITY}")
    with tarfile.open(tarball) as archive:
        file = archive.extractfile(MEMBER)
        data = file.read() if file else b""
    if hashlib.sha256(data).hexdigest() != MEMBER_SHA256:
        raise ValueError(f"{MEMBER} of {PACKAGE}@{VERSION} does not have the pinned SHA-256 {MEMBER_SHA256}")
    return data
