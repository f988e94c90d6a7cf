"""Which rows the units of one write may be near-duplicates of."""

from membench.embedding.embedder import Vectors
from membench.memories.episodic.index import FLOAT32_ERROR, RowIndex
from membench.memories.episodic.vectors import FaissVectors


class Newcomers:
    """The vectors of units that are about to be written in their order, at most some hundreds.

    float32 proposes, for all of them at once and before the first is written: what a vector's cosine is surely not over
    the threshold with is left out. float64 decides when its turn comes, among the rows that stand then: what is
    forgotten until then is asked for in vain, and what is added is one of the newcomers before it.
    """

    def __init__(self, index: RowIndex, vectors: Vectors, threshold: float) -> None:
        self._index = index
        self._vectors = vectors
        self._threshold = threshold
        self._rows = index.perhaps_over(vectors, threshold)
        among_themselves = FaissVectors(vectors.shape[1])
        among_themselves.extend(vectors)
        self._alike = among_themselves.over(vectors, threshold - FLOAT32_ERROR)
        self._added: dict[int, int] = {}

    def nearest_over(self, place: int) -> int | None:
        """The id of the row nearest to the vector at ``place`` if its cosine is over the threshold."""
        ids = self._rows[place] + [self._added[other] for other in self._alike[place] if other in self._added]
        return self._index.nearest_over(ids, self._vectors[place], self._threshold) if ids else None

    def added(self, place: int, row_id: int) -> None:
        """Tells that the vector at ``place`` is a row now."""
        self._added[place] = row_id
