"""A stand-in that hashes words: for trying the program without a model. It scores shared words, never meaning."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from membench.embedding.embedder import Embedded, EmbedderIdentity, Kind, Vectors
from membench.embedding.probe import PROBE_TEXTS, probe_digest
from membench.embedding.vectors import unit_vector

_DIMENSION = 256


class ToyEmbedder:
    """An `Embedder` whose figures are never a result: its identity says so wherever it is shown."""

    def __init__(self) -> None:
        probe = self.embed(PROBE_TEXTS, "document").vectors
        self.identity = EmbedderIdentity(
            kind="toy",
            key="toy",
            sha256=None,
            dimension=_DIMENSION,
            pooling="sum",
            normalisation="l2",
            document_prompt="",
            query_prompt="",
            input_window=None,
            model_window=None,
            build="membench toy embedder 1",
            instruction_set="any",
            probe=probe_digest(probe, probe),
        )

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text; ``kind`` makes no difference."""
        words = [re.findall(r"\w+", text.lower()) for text in texts]
        vectors = np.array([_vector(found, text) for found, text in zip(words, texts, strict=True)], dtype=np.float32)
        return Embedded(
            vectors.reshape(len(texts), _DIMENSION), np.array([len(found) for found in words], dtype=np.int64)
        )


def _vector(words: list[str], text: str) -> Vectors:
    raw = np.zeros(_DIMENSION, dtype=np.float32)
    for word in words or [""]:
        digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        raw[digest[0]] += 1.0 if digest[1] & 1 else -1.0
    if not raw.any():
        raw[0] = 1.0
    return unit_vector(raw, _DIMENSION, text)
