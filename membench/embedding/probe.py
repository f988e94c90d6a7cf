"""The probe: fixed texts whose vectors tell one vector space from another, to the last bit."""

import hashlib

import numpy as np

from membench.embedding.embedder import Vectors

PROBE_TEXTS = (
    "I adopted a dog from the shelter last weekend.",
    "When did Caroline go to the support group?",
    "ok",
    "The quarterly report is due on 2024-03-31 at 17:45; send it to the whole team, please.",
    "Ça me plaît énormément, merci beaucoup. Ich freue mich darüber. Привет, как дела?",
    "明日の会議は午後三時からです。",
    "🎉🎂 happy birthday!!! 🥳",
    "def add(a, b):\n    return a + b  # (a, b) -> a + b",
    "Antidisestablishmentarianism, floccinaucinihilipilification and 3.14159265358979.",
    "We walked along the river until the path ended, then turned back because of the rain. " * 3,
    "A text that is longer than every input window of the small models, so that its cutting is probed too. " * 60,
)


def probe_digest(documents: Vectors, queries: Vectors) -> str:
    """SHA-256 over the little-endian float32 vectors of the probe texts, embedded as documents and as queries."""
    digest = hashlib.sha256()
    for vectors in (documents, queries):
        digest.update(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
    return digest.hexdigest()
