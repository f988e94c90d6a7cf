"""The vectors of one store, in insertion order, each held once: in numpy, or in the storage of a flat FAISS index."""

from itertools import pairwise
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from membench.embedding.embedder import Vectors
from membench.memories.episodic.growing import Growing
from membench.memories.episodic.ranking import Integers

# Products that FAISS makes in some ten milliseconds. BLAS is faster with more; with fewer its threads get in the way.
_FEW = 2**19
# Rows that are multiplied at a time, so that the products stay below some megabytes.
_BLOCK = 8192


class NumpyVectors:
    """Rows that are all looked at in every search."""

    def __init__(self, dimension: int) -> None:
        self._rows = Growing(np.float32, dimension)

    @property
    def rows(self) -> Vectors:
        """All rows: a view, to be taken anew after every change."""
        return self._rows.values

    def extend(self, vectors: Vectors) -> None:
        """Adds rows."""
        self._rows.extend(vectors)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Leaves only the rows where ``kept`` is true, in their order."""
        self._rows.keep(kept)

    def proposed(self, vector: Vectors, count: int) -> Integers:
        """All positions."""
        del vector, count
        return np.arange(len(self._rows), dtype=np.int64)


class FaissVectors:
    """Rows among which FAISS looks first."""

    def __init__(self, dimension: int) -> None:
        faiss.omp_set_num_threads(1)
        self._dimension = dimension
        self._index: Any = faiss.IndexFlatIP(dimension)

    @property
    def rows(self) -> Vectors:
        """All rows: a view of FAISS's own storage, which moves as it grows, so that nobody may keep it."""
        numbers = faiss.rev_swig_ptr(self._index.get_xb(), self._index.ntotal * self._dimension)
        numbers.flags.writeable = False
        rows: Vectors = numbers.reshape(-1, self._dimension)
        return rows

    def extend(self, vectors: Vectors) -> None:
        """Adds rows."""
        self._index.add(vectors)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Leaves only the rows where ``kept`` is true, in their order."""
        # FAISS moves them up within its storage: there is no second copy.
        self._index.remove_ids(np.flatnonzero(~kept))

    def proposed(self, vector: Vectors, count: int) -> Integers:
        """Rising positions of the ``count`` that are nearest to ``vector`` in float32, or of all."""
        if count >= self._index.ntotal:
            return np.arange(self._index.ntotal, dtype=np.int64)
        _, found = self._index.search(vector.reshape(1, -1), count)
        positions: Integers = np.sort(found[0])
        return positions

    def over(self, vectors: Vectors, floor: float) -> list[list[int]]:
        """For each of ``vectors`` the rising positions of all rows whose float32 product with it is over ``floor``."""
        if len(vectors) * self._index.ntotal <= _FEW:
            ends, _, found = self._index.range_search(vectors, floor)
            return [sorted(found[start:end].tolist()) for start, end in pairwise(ends.tolist())]
        positions: list[list[int]] = [[] for _ in vectors]
        rows = self.rows
        for start in range(0, len(rows), _BLOCK):
            product = rows[start : start + _BLOCK] @ vectors.T
            for place in np.flatnonzero(product > floor).tolist():
                positions[place % len(vectors)].append(start + place // len(vectors))
        return positions
