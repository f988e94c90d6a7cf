"""Chroma, run in this process: its HNSW index over the run's own embeddings, one database folder a pool."""

from collections.abc import Sequence
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

import chromadb
from chromadb.config import Settings


class Memory:
    """Ranks by cosine similarity.

    ``ef_search`` is how many candidates HNSW looks at: with Chroma's own 100 it misses some of the nearest, and other
    ones in each run; with more than there are units it misses none.
    """

    def __init__(self, embedder: Any, ef_search: str = "2000") -> None:
        self._embedder, self._ef_search = embedder, int(ef_search)

    def describe(self) -> dict[str, Any]:
        """The identity."""
        return {
            "name": "chroma",
            "version": chromadb.__version__,
            "backend": "HNSW, cosine",
            "settings": {"ef_search": self._ef_search},
            "ephemeral": True,
        }

    def open(self, pool: str) -> "Store":
        """A database of its own for the pool."""
        return Store(pool, self._embedder, self._ef_search)


class Store:
    """One collection in one database folder, which goes with it."""

    def __init__(self, pool: str, embedder: Any, ef_search: int) -> None:
        self._embedder = embedder
        # Chroma may still be writing to a folder that it has let go of.
        self._folder = TemporaryDirectory(prefix="chroma-", ignore_cleanup_errors=True)
        self._client = chromadb.PersistentClient(self._folder.name, Settings(anonymized_telemetry=False))
        self._units = self._client.create_collection(
            f"pool-{pool}",
            configuration={"hnsw": {"space": "cosine", "ef_search": ef_search}},
            embedding_function=None,
        )

    def write(self, units: Sequence[Any]) -> list[str]:
        """Stores them all: a text without a word has a vector too."""
        texts = [unit.text for unit in units]
        if texts:
            self._units.add(
                ids=[unit.id for unit in units],
                documents=texts,
                embeddings=self._embedder.embed(texts, "document").vectors,
                metadatas=[{"session": unit.session} for unit in units],
            )
        return ["stored"] * len(units)

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[tuple[str, float]]:
        """The nearest units; the score is their cosine similarity. ``as_of`` makes no difference."""
        del as_of
        vector = self._embedder.embed([query], "query").vectors
        found = self._units.query(query_embeddings=vector, n_results=limit, include=["distances"])
        return [(unit, 1.0 - distance) for unit, distance in zip(found["ids"][0], found["distances"][0], strict=True)]

    def close(self) -> None:
        """Stops Chroma and removes the folder."""
        self._client.close()
        self._folder.cleanup()
