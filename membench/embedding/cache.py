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

import numpy as np

from membench.embedding.embedder import EmbedderIdentity, Vectors

log = logging.getLogger(__name__)

_SCHEMA = """CREATE TABLE IF NOT EXISTS vectors
    (text BLOB PRIMARY KEY, tokens INTEGER NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"""
_KEYS_A_QUERY = 500


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
    """The vectors of one space. Never raises for what is wrong on disk: it warns, and knows less."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._connection = self._open() or self._open_anew()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """Those of ``keys`` that are here and whole."""
        found: dict[bytes, CachedVector] = {}
        damaged = []
        for key, tokens, blob, checksum in self._rows(keys):
            if len(blob) == 4 * self._dimension and _checksum(key, tokens, blob) == checksum:
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
                self._give_up(error)

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany(statement, rows)
        except sqlite3.DatabaseError as error:
            self._give_up(error)

    def _open(self) -> sqlite3.Connection | None:
        connection = None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
            connection.execute("SELECT text, tokens, vector, checksum FROM vectors LIMIT 1").fetchone()
        except (sqlite3.Error, OSError) as error:
            log.warning("%s: the vector cache cannot be opened (%s)", self._path, error)
            if connection is not None:
                connection.close()
            return None
        return connection

    def _open_anew(self) -> sqlite3.Connection | None:
        """After a first failure: without the damaged file, or without a cache where even that fails."""
        try:
            self._discard()
        except OSError as error:
            log.warning("%s: cannot be removed (%s)", self._path, error.strerror)
            return None
        connection = self._open()
        outcome = "started anew" if connection is not None else "this run goes on without a vector cache"
        log.warning("%s: %s", self._path, outcome)
        return connection

    def _give_up(self, error: sqlite3.Error) -> None:
        """Damage shows itself late too, in a page that is read or written in mid-run. A full disk is not damage."""
        self.close()
        if "malformed" in str(error) or "not a database" in str(error):
            log.warning("%s: damaged (%s); thrown away", self._path, error)
            self._connection = self._open_anew()
        else:
            log.warning("%s: %s; this run goes on without a vector cache", self._path, error)

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def _checksum(key: bytes, tokens: int, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(key + tokens.to_bytes(8, "little")))
