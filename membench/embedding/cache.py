"""Vectors on disk, one SQLite file a vector space, so that arms and nights embed each text once.

A cache is a cache: a row that fails its checksum and a file that SQLite cannot read are thrown away with a warning, a
folder that cannot be written leaves the run without a cache, and the vectors are the same bits with it or without.
"""

import logging
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from membench.embedding.embedder import EmbedderIdentity, Vectors

log = logging.getLogger(__name__)

# With a rowid: a table without one puts all but the beginning of each vector on a page of its own.
_SCHEMA = """CREATE TABLE IF NOT EXISTS vectors
    (text BLOB PRIMARY KEY, tokens INTEGER NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL)"""
_KEYS_A_QUERY = 500
# Several processes may share a folder: the workers of a cluster on one machine do. Each writes for a moment only.
_WAIT_SECONDS = 60.0
# SQLITE_ERROR is a table of other columns. All else, such as a full disk, says nothing about what the file holds.
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


@dataclass(frozen=True, slots=True)
class CachedVector:
    """One float32 row and the text's length in tokens before the input window cut it."""

    tokens: int
    vector: Vectors


def text_key(text: str) -> bytes:
    """Addresses a text, its prompt included."""
    return sha256(text.encode("utf-8", errors="replace")).digest()


def space_name(identity: EmbedderIdentity) -> str:
    """Names a vector space by what decides its vectors: file, pooling, window and, above all, the probe."""
    parts = (
        identity.kind,
        identity.sha256,
        identity.dimension,
        identity.pooling,
        identity.input_window,
        identity.probe,
    )
    return sha256(repr(parts).encode()).hexdigest()[:32]


class VectorCache:
    """The vectors of one space. Never raises for what is wrong on disk: it warns, and knows less.

    Any thread may use it, one at a time.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = self._connected()
        except (sqlite3.Error, OSError) as error:
            self._recover(error)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """Those of ``keys`` that are here and whole."""
        found: dict[bytes, CachedVector] = {}
        damaged = []
        for key, tokens, blob, checksum in self._rows(keys):
            if self._whole(key, tokens, blob, checksum):
                found[key] = CachedVector(tokens, np.frombuffer(blob, dtype="<f4"))
            else:
                damaged.append(key)
        if damaged:
            log.warning("%s: %d damaged vectors thrown away; they are embedded again", self._path, len(damaged))
            self._write("DELETE FROM vectors WHERE text = ?", ((key,) for key in damaged))
        return found

    def put(self, entries: Iterable[tuple[bytes, CachedVector]]) -> None:
        """Keeps ``entries``; they are on disk when this returns."""
        rows = []
        for key, entry in entries:
            blob = np.ascontiguousarray(entry.vector, dtype="<f4").tobytes()
            rows.append((key, entry.tokens, blob, _checksum(key, entry.tokens, blob)))
        self._write("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Closes the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> "VectorCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _whole(self, key: bytes, tokens: object, blob: object, checksum: object) -> bool:
        """Whether a row is as it was written. In a damaged one the columns are of any type."""
        return (
            isinstance(tokens, int)
            and tokens >= 0
            and isinstance(blob, bytes)
            and len(blob) == 4 * self._dimension
            and _checksum(key, tokens, blob) == checksum
        )

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int, bytes, int]]:
        for start in range(0, len(keys), _KEYS_A_QUERY):
            part = keys[start : start + _KEYS_A_QUERY]
            if self._connection is None:
                return
            marks = ",".join("?" * len(part))
            query = f"SELECT text, tokens, vector, checksum FROM vectors WHERE text IN ({marks})"  # noqa: S608
            try:
                yield from self._connection.execute(query, part).fetchall()
            except sqlite3.DatabaseError as error:
                self._recover(error)

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany(statement, rows)
        except sqlite3.DatabaseError as error:
            self._recover(error)

    def _connected(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, check_same_thread=False)
        try:
            # No column is text, save in a damaged row, where it need not be UTF-8.
            connection.text_factory = bytes
            _begin_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
            connection.execute("SELECT text, tokens, vector, checksum FROM vectors LIMIT 1").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _recover(self, error: sqlite3.Error | OSError) -> None:
        """After a failure: begins a new file in place of a damaged one, else leaves the file alone and does without.

        Damage shows itself late too, in a page that is read or written in mid-run.
        """
        self.close()
        if _is_damage(error):
            log.warning("%s: damaged (%s); thrown away", self._path, error)
            try:
                self._discard()
                self._connection = self._connected()
                return
            except (sqlite3.Error, OSError) as again:
                error = again
        log.warning("%s: %s; this run goes on without a vector cache", self._path, error)

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def _begin_log(connection: sqlite3.Connection) -> None:
    """Write-ahead logging, waited for: where several begin a file together, SQLite itself does not wait for this."""
    deadline = monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
        sleep(0.02)


def _is_damage(error: sqlite3.Error | OSError) -> bool:
    # The low byte of an extended code is the code.
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _checksum(key: bytes, tokens: int, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(key + tokens.to_bytes(8, "little")))
