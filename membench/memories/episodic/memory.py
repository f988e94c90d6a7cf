"""The episodic memory as the ruler sees it."""

from membench.embedding.embedder import Embedder
from membench.memories.episodic.options import EpisodicSettings
from membench.memories.episodic.store import EpisodicStore
from membench.memories.protocol import Description


class EpisodicMemory:
    """A `Memory`. ``embedder`` None leaves it its keyword search, which the ruler refuses to measure."""

    def __init__(self, settings: EpisodicSettings, embedder: Embedder | None) -> None:
        self._settings = settings
        self._embedder = embedder

    def describe(self) -> Description:
        """Name, ranking version, the backend that ranks, and every option in force."""
        return Description(
            name="episodic",
            version="1",
            backend=self._settings.backend if self._embedder is not None else "keyword",
            # The near-duplicate check needs FAISS: without it, it is off, whatever was asked for.
            settings=self._settings.model_dump(exclude={"backend"})
            | {"dedup": self._settings.dedup and self._settings.backend == "faiss"},
            honours_as_of=self._settings.decay_rate > 0,
            embeds=self._embedder is not None,
        )

    def open(self, pool: str) -> EpisodicStore:
        """A fresh store in a folder of its own; ``pool`` names nothing on disk."""
        del pool
        return EpisodicStore(self._settings, self._embedder)
