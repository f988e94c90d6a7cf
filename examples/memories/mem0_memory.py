"""mem0 with its embedded Qdrant and the run's embedder: raw writes (`infer=False`), so that no language model is asked.

What mem0 ranks by depends on what is installed beside it: with neither fastembed nor spaCy, as here, it is the cosine
similarity of Qdrant alone, without its keyword score and its entity boost.
"""

import os
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# mem0 reads both while it is imported, and writes a user's id into the folder.
with TemporaryDirectory(prefix="mem0-") as home:
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=home)
    import mem0

THRESHOLD = 0.1
"""mem0's own default: what is less similar than this is no hit."""


class Memory:
    """Ranks as mem0's `search` does."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def describe(self) -> dict[str, Any]:
        """The identity; its settings tell what mem0 finds installed beside it."""
        return {
            "name": "mem0",
            "version": version("mem0ai"),
            "backend": f"qdrant-client {version('qdrant-client')}, local, cosine",
            "settings": {
                "infer": False,
                "threshold": THRESHOLD,
                "fastembed": find_spec("fastembed") is not None,
                "spacy": find_spec("spacy") is not None,
            },
            "ephemeral": True,
        }

    def open(self, pool: str) -> "Store":
        """A mem0 of its own for the pool, which is its user."""
        return Store(pool, self._embedder)


class Store:
    """One mem0 in one folder, which goes with it."""

    def __init__(self, pool: str, embedder: Any) -> None:
        self._user, self._vectors = pool, RunEmbedder(embedder)
        self._folder = TemporaryDirectory(prefix="mem0-")
        home = Path(self._folder.name)
        dimension = embedder.identity.dimension
        # mem0 wants a key for clients that it builds and that nothing here calls.
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self._mem0 = mem0.Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(home / "qdrant"), "embedding_model_dims": dimension, "on_disk": True},
                },
                "history_db_path": str(home / "history.db"),
                "llm": unused,
                "embedder": unused,
            }
        )
        self._mem0.embedding_model = self._vectors

    def write(self, units: Sequence[Any]) -> list[dict[str, str] | str]:
        """Adds each unit; mem0 never gives back a blank one."""
        self._vectors.prepare([unit.text for unit in units])
        return [self._add(unit) if unit.text.strip() else {"status": "refused", "reason": "blank"} for unit in units]

    def _add(self, unit: Any) -> str:
        about = {"unit": unit.id, "session": unit.session}
        self._mem0.add(unit.text, user_id=self._user, metadata=about, infer=False)
        return "stored"

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[tuple[str, float]]:
        """mem0's hits and their scores; ``as_of`` makes no difference."""
        del as_of
        if not query.strip():
            return []
        found = self._mem0.search(query, top_k=limit, filters={"user_id": self._user}, threshold=THRESHOLD)
        return [(hit["metadata"]["unit"], hit["score"]) for hit in found["results"]]

    def close(self) -> None:
        """Closes what mem0 opened and removes the folder."""
        self._mem0.close()
        self._mem0.vector_store.client.close()
        self._folder.cleanup()


class RunEmbedder:
    """The run's embedder as mem0 calls one; what is written together is embedded together."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._ready: dict[str, list[float]] = {}

    def prepare(self, texts: list[str]) -> None:
        """Embeds what is about to be added."""
        self._ready = dict(zip(texts, self.embed_batch(texts), strict=True))

    def embed(self, text: str, memory_action: str = "add") -> list[float]:
        """One vector."""
        ready = self._ready.get(text) if memory_action == "add" else None
        return ready or self.embed_batch([text], memory_action)[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        """One vector a text."""
        kind = "query" if memory_action == "search" else "document"
        return self._embedder.embed(texts, kind).vectors.tolist() if texts else []
