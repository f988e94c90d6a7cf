"""The rows of one store in memory, in insertion order, and the candidates that a search ranks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from membench.memories.episodic.ranking import Floats, Integers, cosines, descending
from membench.memories.episodic.words import Overlaps, Vocabulary, Words, WordSets

Vector = npt.NDArray[np.float32]

# Far above what float32 can be off by in a cosine, far below what a threshold is meant to tell apart.
_FLOAT32_ERROR = 1e-4
# Overlaps that a store keeps for its searches at most: 16 MB of them.
_KEPT_NUMBERS = 2_000_000
# Forgotten rows stay in the arrays until there are so many of them.
_FORGOTTEN_AT_MOST = 256


@dataclass(frozen=True, slots=True)
class Row:
    """One stored memory. ``created`` is in seconds since 1970, None where unknown."""

    id: int
    created: int | None
    importance: float
    words: Words


@dataclass(frozen=True, slots=True)
class Candidates:
    """The rows that searches rank, in insertion order. ``kept`` are their overlaps where searches share them."""

    ids: Integers
    importance: Floats
    created: Integers
    dated: npt.NDArray[np.bool_]
    words: WordSets
    kept: Overlaps | None = None

    def overlaps_within(self, order: Integers) -> Callable[[int], Overlaps]:
        """For the first n of ``order``: the overlap of the row at one place in it with the row at each."""

        def within(reach: int) -> Overlaps:
            first = order[:reach]
            kept = self.kept
            if kept is None:
                return self.words.take(first).overlaps()
            return lambda place: kept(int(first[place]))[first]

        return within

    def ages(self, now: int | None) -> Integers:
        """Seconds from each row's creation to ``now``; 0 where either is unknown."""
        return np.zeros_like(self.created) if now is None else np.where(self.dated, now - self.created, 0)


class RowIndex:
    """Rows by position. FAISS, with ``use_faiss``, only proposes; float64 cosines decide."""

    def __init__(self, dimension: int, use_faiss: bool) -> None:
        self._dimension = dimension
        self._use_faiss = use_faiss
        self._vocabulary = Vocabulary()
        self._rows: list[Row] = []
        self._vectors = np.empty((64, dimension), dtype=np.float32)
        self._forgotten: set[int] = set()
        self._columns: _Columns | None = None
        self._everything: tuple[Candidates, Floats] | None = None
        self._faiss = self._new_faiss()

    def __len__(self) -> int:
        return len(self._rows) - len(self._forgotten)

    def __getitem__(self, position: int) -> Row:
        return self._rows[position]

    def add(self, row_id: int, vector: Vector, created: int | None, importance: float, text: str) -> None:
        """Appends a row."""
        position = len(self._rows)
        if position == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.empty_like(self._vectors)])
        self._vectors[position] = vector
        self._rows.append(Row(row_id, created, importance, self._vocabulary.word_set(text)))
        self._columns = self._everything = None
        if self._faiss is not None:
            self._faiss.add(vector.reshape(1, -1))

    def forget(self, position: int) -> None:
        """Takes a row out of every later answer. Positions are new after that."""
        self._forgotten.add(position)
        self._columns = self._everything = None
        if len(self._forgotten) > _FORGOTTEN_AT_MOST:
            self._compact()

    def least_wanted(self) -> int:
        """The position of the row with the lowest importance, then the oldest, then the first."""

        def rank(position: int) -> tuple[float, float, int]:
            row = self._rows[position]
            return row.importance, float("inf") if row.created is None else row.created, position

        standing: list[int] = self._standing().tolist()
        return min(standing, key=rank)

    def over(self, vector: Vector, threshold: float, neighbours: int) -> int | None:
        """The position of the nearest of so many neighbours if its cosine is over ``threshold``."""
        if self._faiss is None or not len(self):
            return None
        if not self._forgotten and self._faiss.search(vector.reshape(1, -1), 1)[0][0, 0] < threshold - _FLOAT32_ERROR:
            return None
        positions, cosine = self.nearest(vector, neighbours)
        return int(positions[0]) if cosine[0] > threshold else None

    def nearest(self, vector: Vector, limit: int) -> tuple[Integers, Floats]:
        """At most ``limit`` positions with their cosines, nearest first, ties in insertion order."""
        positions = self._proposed(vector, limit)
        cosine = cosines(self._vectors[positions], vector)
        order = descending(cosine)[:limit]
        return positions[order], cosine[order]

    def candidates(self, vector: Vector, limit: int) -> tuple[Candidates, Floats]:
        """The ``limit`` rows nearest to ``vector``, or all of them, and their cosines."""
        if self._columns is None:
            self._columns = _Columns(self._rows, len(self._vocabulary))
        if len(self) > limit:
            positions, cosine = self.nearest(vector, limit)
            order = np.argsort(positions)
            return self._columns.gather(positions[order]), cosine[order]
        if self._everything is None:
            standing = self._standing()
            found = self._columns.gather(standing)
            # The same texts are chosen by search after search, so what they share is worked out once.
            kept = lru_cache(max(_KEPT_NUMBERS // max(len(standing), 1), 1))(found.words.overlaps())
            found = replace(found, kept=kept)
            self._everything = found, self._vectors[standing].astype(np.float64)
        everything, vectors = self._everything
        return everything, cosines(vectors, vector)

    def _standing(self) -> Integers:
        positions = np.arange(len(self._rows), dtype=np.int64)
        return np.delete(positions, sorted(self._forgotten)) if self._forgotten else positions

    def _proposed(self, vector: Vector, limit: int) -> Integers:
        # FAISS ranks in float32: so many more than wanted are taken that the float64 order decides who is in.
        wanted = limit + limit // 16 + 8 + len(self._forgotten)
        if self._faiss is None or wanted >= len(self._rows):
            return self._standing()
        _, found = self._faiss.search(vector.reshape(1, -1), wanted)
        positions: Integers = np.sort(found[0])
        if self._forgotten:
            positions = positions[[position not in self._forgotten for position in positions.tolist()]]
        return positions

    def _compact(self) -> None:
        standing = self._standing()
        self._rows = [self._rows[position] for position in standing]
        self._vectors = self._vectors[standing]
        self._forgotten.clear()
        self._faiss = self._new_faiss()
        if self._faiss is not None:
            self._faiss.add(self._vectors)

    def _new_faiss(self) -> Any:
        if not self._use_faiss:
            return None
        faiss.omp_set_num_threads(1)
        return faiss.IndexFlatIP(self._dimension)


class _Columns:
    """All rows as arrays, built once for the searches between two writes."""

    def __init__(self, rows: list[Row], numbers: int) -> None:
        self._ids = np.array([row.id for row in rows], dtype=np.int64)
        self._importance = np.array([row.importance for row in rows], dtype=np.float64)
        self._created = np.array([row.created or 0 for row in rows], dtype=np.int64)
        self._dated = np.array([row.created is not None for row in rows], dtype=np.bool_)
        self._words = WordSets.of([row.words for row in rows], numbers)

    def gather(self, positions: Integers) -> Candidates:
        return Candidates(
            ids=self._ids[positions],
            importance=self._importance[positions],
            created=self._created[positions],
            dated=self._dated[positions],
            words=self._words.take(positions),
        )
