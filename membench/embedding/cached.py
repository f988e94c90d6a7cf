"""An embedder that remembers: what is held in memory first, then the cache on disk, then the model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from membench.embedding.cache import CachedVector, VectorCache, text_key
from membench.embedding.embedder import Embedded, Embedder, EmbedderIdentity, Kind

_TEXTS_A_COMMIT = 256

Item = TypeVar("Item")


@dataclass(slots=True)
class EmbeddingTally:
    """What it took, in texts: from the cache on disk, and through the model. For provenance."""

    cached: int = 0
    computed: int = 0


class CachedEmbedder:
    """An `Embedder`. Without ``cache`` it still embeds a text once for as long as it is held."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._held: dict[tuple[Kind, str], CachedVector] = {}
        self.tally = EmbeddingTally()

    @property
    def identity(self) -> EmbedderIdentity:
        """The inner embedder's."""
        return self._embedder.identity

    def hold(self, wanted: Iterable[tuple[Kind, str]], advance: Callable[[int], None]) -> None:
        """Makes ready the vectors of ``wanted`` and lets go of all others, so that memory is bounded by one instance.

        ``advance`` is told of each lot of texts that has been made ready.
        """
        distinct = dict.fromkeys(wanted)
        self._held = {item: self._held[item] for item in distinct if item in self._held}
        advance(len(self._held))
        for kind in ("document", "query"):
            missing = (text for held_kind, text in distinct if held_kind == kind and (kind, text) not in self._held)
            for part in _parts(missing):
                for text, entry in zip(part, self._fetch(part, kind), strict=True):
                    self._held[kind, text] = entry
                advance(len(part))

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text, in order."""
        missing = list(dict.fromkeys(text for text in texts if (kind, text) not in self._held))
        fetched = dict(zip(missing, self._fetch(missing, kind), strict=True)) if missing else {}
        entries = [fetched.get(text) or self._held[kind, text] for text in texts]
        vectors = np.array([entry.vector for entry in entries], dtype=np.float32)
        return Embedded(
            vectors.reshape(len(texts), self.identity.dimension),
            np.array([entry.tokens for entry in entries], dtype=np.int64),
        )

    def _fetch(self, texts: Sequence[str], kind: Kind) -> list[CachedVector]:
        prompt = self.identity.document_prompt if kind == "document" else self.identity.query_prompt
        keys = [text_key(prompt + text) for text in texts]
        known = self._cache.get(keys) if self._cache is not None else {}
        self.tally.cached += len(known)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for part in _parts(missing.items()):
            embedded = self._embedder.embed([text for _, text in part], kind)
            entries = [
                (key, CachedVector(int(tokens), vector))
                for (key, _), tokens, vector in zip(part, embedded.tokens, embedded.vectors, strict=True)
            ]
            self.tally.computed += len(entries)
            known.update(entries)
            if self._cache is not None:
                self._cache.put(entries)
        return [known[key] for key in keys]


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    remaining = iter(items)
    while part := list(islice(remaining, _TEXTS_A_COMMIT)):
        yield part
