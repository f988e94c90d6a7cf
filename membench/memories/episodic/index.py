"""The rows of one store in memory, in insertion order, and the candidates that a search ranks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from membench.embedding.embedder import Vectors
from membench.memories.episodic.growing import Growing
from membench.memories.episodic.ranking import Floats, Integers, cosines, descending
from membench.memories.episodic.vectors import FaissVectors, NumpyVectors
from membench.memories.episodic.words import GrowingWordSets, Overlaps, WordSets

# Far above what float32 can be off by in a cosine, far below what a threshold is meant to tell apart.
FLOAT32_ERROR = 1e-4
# Overlaps that a store keeps for its searches at most: 16 MB of them.
_KEPT_NUMBERS = 2_000_000
# Forgotten rows stay in the arrays until there are so many of them.
_FORGOTTEN_AT_MOST = 256
# Rows whose float64 copies are made at a time: some megabytes.
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Candidates:
    """The rows that one search ranks, in insertion order. ``words`` are those of all rows, ``positions`` where in them
    each is found. ``kept`` are their overlaps where searches share them.
    """

    positions: Integers
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
                return self.words.take(self.positions[first]).overlaps()
            return lambda place: kept(int(first[place]))[first]

        return within

    def ages(self, now: int | None) -> Integers:
        """Seconds from each row's creation to ``now``; 0 where either is unknown."""
        return np.zeros_like(self.created) if now is None else np.where(self.dated, now - self.created, 0)


class RowIndex:
    """Rows by id. FAISS, with ``use_faiss``, only proposes; float64 cosines decide."""

    def __init__(self, dimension: int, use_faiss: bool) -> None:
        self._vectors = FaissVectors(dimension) if use_faiss else NumpyVectors(dimension)
        self._ids = Growing(np.int64)
        self._importance = Growing(np.float64)
        self._created = Growing(np.int64)
        self._dated = Growing(np.bool_)
        self._stands = Growing(np.bool_)
        self._words = GrowingWordSets()
        self._forgotten = 0
        self._everything: tuple[Candidates, Floats] | None = None
        self._least_wanted: list[tuple[float, float, int]] | None = None

    def __len__(self) -> int:
        return len(self._ids) - self._forgotten

    def add(self, row_id: int, vector: Vectors, created: int | None, importance: float, text: str) -> None:
        """Appends a row. Each ``row_id`` is above the one before."""
        self._vectors.extend(vector.reshape(1, -1))
        self._ids.append(row_id)
        self._importance.append(importance)
        self._created.append(created or 0)
        self._dated.append(created is not None)
        self._stands.append(True)
        self._words.append(text)
        self._everything = None
        if self._least_wanted is not None:
            heappush(self._least_wanted, _wanted(importance, created, row_id))

    def forget(self, row_id: int) -> None:
        """Takes a row out of every later answer."""
        self._stands.values[self._standing_among([row_id])] = False
        self._forgotten += 1
        self._everything = None
        if self._forgotten > _FORGOTTEN_AT_MOST:
            self._compact()

    def least_wanted(self) -> int:
        """The id of the row with the lowest importance, then the oldest, then the first."""
        if self._least_wanted is None:
            self._least_wanted = self._by_wanted()
        while not len(self._standing_among([self._least_wanted[0][-1]])):
            heappop(self._least_wanted)
        return self._least_wanted[0][-1]

    def perhaps_over(self, vectors: Vectors, threshold: float) -> list[list[int]]:
        """For each of ``vectors`` the rising ids of rows whose cosine may be over ``threshold``. Only with FAISS."""
        assert isinstance(self._vectors, FaissVectors)  # noqa: S101
        found = self._vectors.over(vectors, threshold - FLOAT32_ERROR)
        return [self._ids.values[positions].tolist() if positions else [] for positions in found]

    def nearest_over(self, ids: Sequence[int], vector: Vectors, threshold: float) -> int | None:
        """Of those of ``ids``, which rise, that still stand the nearest, if its cosine is over ``threshold``."""
        positions = self._standing_among(ids)
        cosine = self._cosines(positions, vector)
        if not (cosine > threshold).any():
            return None
        return int(self._ids.values[positions[cosine.argmax()]])

    def candidates(self, vector: Vectors, limit: int) -> tuple[Candidates, Floats]:
        """The ``limit`` rows nearest to ``vector``, or all of them, and their cosines."""
        if len(self) <= limit:
            return self._all(vector)
        # FAISS ranks in float32: so many more than wanted are taken that the float64 order decides who is in.
        positions = self._vectors.proposed(vector, limit + limit // 16 + 8 + self._forgotten)
        positions = positions[self._stands.values[positions]]
        cosine = self._cosines(positions, vector)
        nearest = np.sort(descending(cosine)[:limit])
        return self._gathered(positions[nearest]), cosine[nearest]

    def _all(self, vector: Vectors) -> tuple[Candidates, Floats]:
        if self._everything is None:
            found = self._gathered(np.flatnonzero(self._stands.values))
            # The same texts are chosen by search after search, so what they share is worked out once.
            overlaps = found.words.take(found.positions).overlaps()
            kept = lru_cache(max(_KEPT_NUMBERS // max(len(self), 1), 1))(overlaps)
            vectors = self._vectors.rows[found.positions].astype(np.float64)
            self._everything = replace(found, kept=kept), vectors
        everything, vectors = self._everything
        return everything, cosines(vectors, vector)

    def _gathered(self, positions: Integers) -> Candidates:
        return Candidates(
            positions=positions,
            ids=self._ids.values[positions],
            importance=self._importance.values[positions],
            created=self._created.values[positions],
            dated=self._dated.values[positions],
            words=self._words.sets(),
        )

    def _cosines(self, positions: Integers, vector: Vectors) -> Floats:
        rows = self._vectors.rows
        blocks = [positions[start : start + _BLOCK] for start in range(0, len(positions), _BLOCK)]
        return np.concatenate([np.empty(0), *(cosines(rows[block], vector) for block in blocks)])

    def _standing_among(self, ids: Sequence[int]) -> Integers:
        """The positions of those of ``ids``, which rise and were added once, that stand."""
        known = self._ids.values
        positions = np.searchsorted(known, ids)
        # What was taken out may have been the last.
        positions = positions[positions < len(known)]
        standing: Integers = positions[(known[positions] == ids[: len(positions)]) & self._stands.values[positions]]
        return standing

    def _by_wanted(self) -> list[tuple[float, float, int]]:
        columns = (self._importance, self._created, self._dated, self._ids, self._stands)
        rows = zip(*(column.values.tolist() for column in columns), strict=True)
        ranked = [
            _wanted(importance, created if dated else None, row_id)
            for importance, created, dated, row_id, stands in rows
            if stands
        ]
        heapify(ranked)
        return ranked

    def _compact(self) -> None:
        stands = self._stands.values
        self._vectors.keep(stands)
        self._words.keep(stands)
        for column in (self._ids, self._importance, self._created, self._dated, self._stands):
            column.keep(stands)
        self._forgotten = 0


def _wanted(importance: float, created: int | None, row_id: int) -> tuple[float, float, int]:
    return importance, float("inf") if created is None else created, row_id
