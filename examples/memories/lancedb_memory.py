"""LanceDB, run in this process: exact vector search and its full-text index, fused by its reciprocal rank fusion."""

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from tempfile import TemporaryDirectory
from typing import Any

import lancedb
import pyarrow
from lancedb.index import FTS
from lancedb.query import MatchQuery
from lancedb.rerankers import RRFReranker


class Memory:
    """Ranks by vectors and words together, as LanceDB's hybrid search does."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def describe(self) -> dict[str, Any]:
        """The identity."""
        return {
            "name": "lancedb",
            "version": version("lancedb"),
            "backend": "cosine and BM25, RRF",
            "settings": {"language": FTS().language, "rrf_k": RRFReranker().K},
            "ephemeral": True,
        }

    def open(self, pool: str) -> "Store":
        """A database of its own for the pool."""
        del pool
        return Store(self._embedder)


class Store:
    """One table in one database folder, which goes with it."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._folder = TemporaryDirectory(prefix="lancedb-")
        self._database = lancedb.connect(self._folder.name)
        self._units: Any = None
        self._indexed = False

    def write(self, units: Sequence[Any]) -> list[str]:
        """Stores them all: one without a word is found by its vector."""
        if not units:
            return []
        vectors = self._embedder.embed([unit.text for unit in units], "document").vectors
        width = pyarrow.list_(pyarrow.float32(), vectors.shape[1])
        rows = pyarrow.table(
            {
                "id": [unit.id for unit in units],
                "text": [unit.text for unit in units],
                "vector": pyarrow.array(vectors.tolist(), type=width),
            }
        )
        if self._units is None:
            self._units = self._database.create_table("units", rows)
        else:
            self._units.add(rows)
        self._indexed = False
        return ["stored"] * len(units)

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[tuple[str, float]]:
        """The best units; the score is RRF's. ``as_of`` makes no difference. The first search builds the word index."""
        del as_of
        if self._units is None:
            return []
        if not self._indexed:
            self._units.create_index("text", config=FTS(), replace=True)
            self._indexed = True
        hits = (
            self._units.search(query_type="hybrid")
            .vector(self._embedder.embed([query], "query").vectors[0])
            .text(MatchQuery(query, "text"))
            .distance_type("cosine")
            .rerank(RRFReranker())
            .limit(limit)
            .to_list()
        )
        return [(hit["id"], hit["_relevance_score"]) for hit in hits]

    def close(self) -> None:
        """Lets go of the table and removes the folder."""
        del self._units, self._database
        self._folder.cleanup()
