"""One pool's episodic store: SQLite rows on disk, with what a search ranks kept in memory beside them."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from membench.embedding.embedder import Embedder, Vectors
from membench.memories.episodic.duplicates import Newcomers
from membench.memories.episodic.index import RowIndex
from membench.memories.episodic.options import EpisodicSettings
from membench.memories.episodic.ranking import (
    descending,
    maximal_marginal_relevance,
    relevance,
    scores,
    whole_days,
)
from membench.memories.protocol import Hit, Receipt, Unit

# Tags stay empty: the keyword search reads them, so an id there would be a label that a ranker could match.
_SCHEMA = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY, unit TEXT NOT NULL, conversation_id TEXT NOT NULL, text TEXT NOT NULL,
    opening TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '', importance REAL NOT NULL, created_at TEXT,
    vector BLOB, forgotten INTEGER NOT NULL DEFAULT 0);
CREATE INDEX openings ON memories (opening) WHERE forgotten = 0;
"""
_INSERT = """
INSERT INTO memories (unit, conversation_id, text, opening, importance, created_at, vector)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_STANDING = "SELECT 1 FROM memories WHERE opening = ? AND forgotten = 0"
_OPENING_CHARS = 80
_IMPORTANCE = 0.5
_LONGER = 1.2
_KEYWORDS = 5
# Units whose near-duplicates are looked for at once.
_AT_A_TIME = 256


class EpisodicStore:
    """A `Store`. Without an embedder it searches by keyword, as the memory that it models does."""

    def __init__(self, settings: EpisodicSettings, embedder: Embedder | None) -> None:
        self._settings = settings
        self._embedder = embedder
        self._folder = Path(tempfile.mkdtemp(prefix="membench-episodic-"))
        self._connection = sqlite3.connect(self._folder / "memories.sqlite", isolation_level=None)
        # The store lives for one run: what a crash would leave of it is of no use.
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_SCHEMA)
        dimension = embedder.identity.dimension if embedder is not None else 0
        self._index = RowIndex(dimension, use_faiss=settings.backend == "faiss" and embedder is not None)

    def write(self, units: Sequence[Unit]) -> list[Receipt]:
        """One receipt a unit, in order."""
        texts = [unit.text.strip() for unit in units]
        faults = [self._length_fault(text) for text in texts]
        fit = [(unit, text) for unit, text, fault in zip(units, texts, faults, strict=True) if fault is None]
        vectors = None
        if self._embedder is not None and fit:
            vectors = self._embedder.embed([text for _, text in fit], "document").vectors
        self._connection.execute("BEGIN")
        receipts: list[Receipt] = []
        for start in range(0, len(fit), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            receipts += self._write_part(fit[part], None if vectors is None else vectors[part])
        self._connection.execute("COMMIT")
        written = iter(receipts)
        return [next(written) if fault is None else Receipt("refused", fault) for fault in faults]

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[Hit]:
        """At most ``limit`` hits, in the order in which they were chosen."""
        if self._embedder is None:
            return self._keyword_search(query, limit)
        settings = self._settings
        vector = self._embedder.embed([query], "query").vectors[0]
        found, cosine = self._index.candidates(vector, settings.candidates)
        days = whole_days(found.ages(_seconds(as_of)))
        score = scores(cosine, found.importance, days, settings.decay_rate, settings.score_decimals)
        order = descending(score)
        if settings.mmr:
            chosen = maximal_marginal_relevance(
                relevance(score[order]),
                found.overlaps_within(order),
                settings.mmr_lambda,
                limit,
            )
            order = order[chosen]
        return self._hits([(int(found.ids[place]), float(score[place])) for place in order[:limit]])

    def close(self) -> None:
        """Closes the database and removes its folder."""
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _length_fault(self, text: str) -> str | None:
        if not text:
            return "blank"
        if len(text) < self._settings.min_chars:
            return f"under {self._settings.min_chars} characters"
        if self._settings.max_chars is not None and len(text) > self._settings.max_chars:
            return f"over {self._settings.max_chars} characters"
        return None

    def _write_part(self, part: Sequence[tuple[Unit, str]], vectors: Vectors | None) -> Iterator[Receipt]:
        """Writes units with their stripped texts, whose length is right, one after the other."""
        newcomers = None
        # The near-duplicate check is FAISS's: without it nobody looks.
        if vectors is not None and self._settings.dedup and self._settings.backend == "faiss":
            newcomers = Newcomers(self._index, vectors, self._settings.dedup_threshold)
        for place, (unit, text) in enumerate(part):
            opening = text[:_OPENING_CHARS].lower()
            if self._connection.execute(_STANDING, (opening,)).fetchone():
                yield Receipt("duplicate", f"same first {_OPENING_CHARS} characters")
                continue
            displaced: list[str] = []
            near = None if newcomers is None else newcomers.nearest_over(place)
            if near is not None:
                if len(text) <= _LONGER * len(self._text(near)):
                    yield Receipt("duplicate", f"cosine over {self._settings.dedup_threshold:g}")
                    continue
                displaced.append(self._forget(near))
            row_id = self._insert(unit, text, opening, None if vectors is None else vectors[place])
            if newcomers is not None:
                newcomers.added(place, row_id)
            if self._settings.episodic_max is not None and len(self._index) > self._settings.episodic_max:
                displaced.append(self._forget(self._index.least_wanted()))
            yield Receipt("stored", displaced=tuple(displaced))

    def _insert(self, unit: Unit, text: str, opening: str, vector: Vectors | None) -> int:
        created = None if unit.time is None else unit.time.isoformat()
        blob = None if vector is None else np.ascontiguousarray(vector, dtype="<f4").tobytes()
        row_id = self._connection.execute(
            _INSERT, (unit.id, unit.session, text, opening, _IMPORTANCE, created, blob)
        ).lastrowid
        assert row_id is not None  # noqa: S101
        if vector is not None:
            self._index.add(row_id, vector, _seconds(unit.time), _IMPORTANCE, text)
        return row_id

    def _forget(self, row_id: int) -> str:
        self._index.forget(row_id)
        self._connection.execute("UPDATE memories SET forgotten = 1 WHERE id = ?", (row_id,))
        return str(self._connection.execute("SELECT unit FROM memories WHERE id = ?", (row_id,)).fetchone()[0])

    def _text(self, row_id: int) -> str:
        return str(self._connection.execute("SELECT text FROM memories WHERE id = ?", (row_id,)).fetchone()[0])

    def _hits(self, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
        marks = ",".join("?" * len(ranked))
        query = f"SELECT id, unit, text FROM memories WHERE id IN ({marks})"  # noqa: S608
        rows = self._connection.execute(query, [row_id for row_id, _ in ranked])
        known = {row_id: (unit, text) for row_id, unit, text in rows}
        return [Hit(score, *known[row_id]) for row_id, score in ranked]

    def _keyword_search(self, query: str, limit: int) -> list[Hit]:
        words = query.split()[:_KEYWORDS]
        matches = " + ".join(["(text LIKE ? OR tags LIKE ?)"] * len(words)) or "0"
        statement = (
            f"SELECT unit, text, {matches} AS matched FROM memories WHERE forgotten = 0 AND matched > 0"  # noqa: S608
            " ORDER BY matched DESC, id LIMIT ?"
        )
        patterns = [f"%{word}%" for word in words for _ in range(2)]
        rows = self._connection.execute(statement, (*patterns, limit))
        return [Hit(float(matched), unit, text) for unit, text, matched in rows]


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.replace(tzinfo=UTC).timestamp())
