"""An embedder that remembers: what it was asked lately is in memory, the rest in the cache on disk."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from membench.embedding.cache import CachedVector, VectorCache, text_key
from membench.embedding.embedder import Embedded, Embedder, EmbedderIdentity, Kind

# What a killed run can lose of finished work.
_TEXTS_A_COMMIT = 64

Item = TypeVar("Item")


@dataclass(slots=True)
class EmbeddingTally:
    """Distinct texts taken from the cache on disk, and put through the model. For provenance."""

    cached: int = 0
    computed: int = 0


class CachedEmbedder:
    """An `Embedder` over another. Without ``cache`` a text is still embedded once until `forget`."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._held: dict[bytes, CachedVector] = {}
        self._lengths: dict[Kind, dict[bytes, int]] = defaultdict(dict)
        self.tally = EmbeddingTally()

    @property
    def identity(self) -> EmbedderIdentity:
        """The inner embedder's."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text, in order."""
        prompt = self.identity.document_prompt if kind == "document" else self.identity.query_prompt
        keys = [text_key(prompt + text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._held}
        if missing:
            self._fetch(missing, kind)
        entries = [self._held[key] for key in keys]
        self._lengths[kind].update((key, entry.tokens) for key, entry in zip(keys, entries, strict=True))
        vectors = np.array([entry.vector for entry in entries], dtype=np.float32)
        return Embedded(
            vectors.reshape(len(texts), self.identity.dimension),
            np.array([entry.tokens for entry in entries], dtype=np.int64),
        )

    def forget(self) -> None:
        """Lets go of what is held in memory, so that it is bounded by what is asked between two calls."""
        self._held.clear()

    def take_lengths(self) -> dict[Kind, Counter[int]]:
        """How many distinct texts of each kind were asked for since the last call, by their length in tokens before
        the input window cut them.
        """
        taken = {kind: Counter(lengths.values()) for kind, lengths in self._lengths.items()}
        self._lengths.clear()
        return taken

    def _fetch(self, missing: dict[bytes, str], kind: Kind) -> None:
        known = self._cache.get(list(missing)) if self._cache is not None else {}
        self._held.update(known)
        self.tally.cached += len(known)
        for part in _parts((key, text) for key, text in missing.items() if key not in known):
            embedded = self._embedder.embed([text for _, text in part], kind)
            entries = [
                (key, CachedVector(int(tokens), vector))
                for (key, _), tokens, vector in zip(part, embedded.tokens, embedded.vectors, strict=True)
            ]
            self._held.update(entries)
            self.tally.computed += len(entries)
            if self._cache is not None:
                self._cache.put(entries)


def _parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    remaining = iter(items)
    while part := list(islice(remaining, _TEXTS_A_COMMIT)):
        yield part
