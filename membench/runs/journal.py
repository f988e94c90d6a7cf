"""The finished parts of a run on disk, so that one that was killed goes on where it was.

A journal is named after everything that is known to decide a part's bytes: the head of the measurement, the memory's
specification and the file that it names, the source of this package and the versions of the libraries that take part.
It is removed when its run ends well.
"""

import hashlib
import logging
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path
from time import time

from pydantic import TypeAdapter, ValidationError

from membench.corpora.shards import Shard
from membench.files.digest import sha256_of
from membench.files.failures import storage_errors
from membench.files.paths import unfinished_dir
from membench.memories.spec import file_of
from membench.reports.canonical import canonical_json
from membench.reports.head import Head
from membench.reports.provenance import versions
from membench.ruler.part import Part
from membench.runs.source import source_digest

log = logging.getLogger(__name__)

_PART = TypeAdapter(Part)
_KEPT_SECONDS = 14 * 86_400


class Journal:
    """The parts of one arm that are finished. A line that was torn or altered, and all after it, is measured again."""

    def __init__(self, root: Path, head: Head, shard: Shard | None, memory: str, resume: bool) -> None:
        """Begins anew unless ``resume``. ``memory`` is its specification; StorageError where the file that it names
        cannot be read. Where nothing can be written the run goes on without: it warns.
        """
        digest = hashlib.sha256(canonical_json(head))
        file = file_of(memory)
        with storage_errors("read", file or Path()):
            code = sha256_of(file) if file else None
        digest.update(f"{shard} {memory} {code} {source_digest()} {sorted(versions().items())}".encode())
        self._path = unfinished_dir(root) / f"{digest.hexdigest()[:32]}.jsonl"
        self._file: BufferedRandom | None = None
        self.parts: dict[str, Part] = {}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch()
            whole = 0
            for part, end in _lines(self._path.read_bytes() if resume else b""):
                self.parts[part.instance], whole = part, end
            self._file = self._path.open("r+b")
            self._file.truncate(whole)
            self._file.seek(whole)
        except OSError as error:
            self._do_without(error)

    def add(self, part: Part) -> None:
        """Keeps ``part``: it is there when this process is killed after that."""
        if self._file is None:
            return
        body = _PART.dump_json(part)
        try:
            self._file.write(b"%08x %b\n" % (zlib.crc32(body), body))
            self._file.flush()
        except OSError as error:
            self._do_without(error)

    def close(self) -> None:
        """Leaves what is finished for the next run."""
        if self._file is not None:
            # What a full disk did not take is tried once more here.
            with suppress(OSError):
                self._file.close()
            self._file = None

    def discard(self) -> None:
        """The run ended well: nothing is left to go on with."""
        self.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _do_without(self, error: OSError) -> None:
        log.warning("%s: %s; this run cannot be gone on with if it is killed", self._path, error.strerror or error)
        self.close()


def forget_old(root: Path) -> None:
    """Removes what was begun a fortnight ago and never ended."""
    for path in unfinished_dir(root).glob("*.jsonl"):
        with suppress(OSError):
            if time() - path.stat().st_mtime > _KEPT_SECONDS:
                path.unlink()


def _lines(data: bytes) -> Iterator[tuple[Part, int]]:
    """Each whole part, and where its line ends."""
    end = 0
    for line in data.splitlines(keepends=True):
        checksum, _, body = line.rstrip(b"\n").partition(b" ")
        if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body):
            log.warning("an unfinished run's journal is torn after %d bytes; what follows is measured again", end)
            return
        try:
            part = _PART.validate_json(body)
        except ValidationError:
            return
        end += len(line)
        yield part, end
