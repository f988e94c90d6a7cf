"""One pool's episodic store: SQLite rows on disk, with what a search ranks kept in memory beside them."""

import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from membench.embedding.embedder import Embedder, Vectors
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
_OPENING_CHARS = 80
_IMPORTANCE = 0.5
_NEIGHBOURS = 5
_LONGER = 1.2
_KEYWORDS = 5


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
        vectors = self._vectors(units)
        self._connection.execute("BEGIN")
        receipts = [self._write_one(unit, vectors.get(unit.id)) for unit in units]
        self._connection.execute("COMMIT")
        return receipts

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

    def _vectors(self, units: Sequence[Unit]) -> dict[str, Vectors]:
        texts = {unit.id: unit.text.strip() for unit in units}
        wanted = [unit for unit, text in texts.items() if self._length_fault(text) is None]
        if self._embedder is None or not wanted:
            return {}
        embedded = self._embedder.embed([texts[unit] for unit in wanted], "document")
        return dict(zip(wanted, embedded.vectors, strict=True))

    def _length_fault(self, text: str) -> str | None:
        if not text:
            return "blank"
        if len(text) < self._settings.min_chars:
            return f"under {self._settings.min_chars} characters"
        if self._settings.max_chars is not None and len(text) > self._settings.max_chars:
            return f"over {self._settings.max_chars} characters"
        return None

    def _write_one(self, unit: Unit, vector: Vectors | None) -> Receipt:
        text = unit.text.strip()
        fault = self._length_fault(text)
        if fault is not None:
            return Receipt("refused", fault)
        opening = text[:_OPENING_CHARS].lower()
        standing = "SELECT 1 FROM memories WHERE opening = ? AND forgotten = 0"
        if self._connection.execute(standing, (opening,)).fetchone():
            return Receipt("duplicate", f"same first {_OPENING_CHARS} characters")
        displaced: list[str] = []
        near = self._near_duplicate(vector)
        if near is not None:
            old = self._text(self._index[near].id)
            if len(text) <= _LONGER * len(old):
                return Receipt("duplicate", f"cosine over {self._settings.dedup_threshold:g}")
            displaced.append(self._forget(near))
        self._insert(unit, text, opening, vector)
        if self._settings.episodic_max is not None and len(self._index) > self._settings.episodic_max:
            displaced.append(self._forget(self._index.least_wanted()))
        return Receipt("stored", displaced=tuple(displaced))

    def _near_duplicate(self, vector: Vectors | None) -> int | None:
        """The position of the nearest neighbour over the threshold; without FAISS nobody looks."""
        if vector is None or not self._settings.dedup:
            return None
        return self._index.over(vector, self._settings.dedup_threshold, _NEIGHBOURS)

    def _insert(self, unit: Unit, text: str, opening: str, vector: Vectors | None) -> None:
        created = None if unit.time is None else unit.time.isoformat()
        blob = None if vector is None else np.ascontiguousarray(vector, dtype="<f4").tobytes()
        row = self._connection.execute(
            "INSERT INTO memories (unit, conversation_id, text, opening, importance, created_at, vector)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (unit.id, unit.session, text, opening, _IMPORTANCE, created, blob),
        )
        if vector is not None and row.lastrowid is not None:
            self._index.add(row.lastrowid, vector, _seconds(unit.time), _IMPORTANCE, text)

    def _forget(self, position: int) -> str:
        row_id = self._index[position].id
        self._index.forget(position)
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
