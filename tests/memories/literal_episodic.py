"""The episodic memory as its description reads, by loops and sets: what the fast one has to agree with."""

import math
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from membench.embedding.embedder import Embedded, Kind
from membench.embedding.toy import ToyEmbedder
from membench.memories.protocol import Unit

DAY0 = datetime(2023, 5, 1, 12)


class GivenVectors:
    """An embedder that has been told the vector of each text."""

    def __init__(self, dimension: int) -> None:
        self.identity = replace(ToyEmbedder().identity, dimension=dimension)
        self.vectors: dict[str, list[float]] = {}

    def embed(self, texts: list[str], kind: Kind) -> Embedded:
        rows = np.array([self.vectors[text] for text in texts], dtype=np.float32)
        return Embedded(rows.reshape(len(texts), self.identity.dimension), np.ones(len(texts), dtype=np.int64))


def unit_vectors(count: int, dimension: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def unit(number: int, text: str, time: datetime | None = DAY0) -> Unit:
    return Unit(f"u{number}", "s1", text, time)


def days_later(days: float) -> datetime:
    return DAY0 + timedelta(days=days)


@dataclass
class _Row:
    unit: str
    text: str
    vector: list[float]
    time: datetime | None
    importance: float


class LiteralEpisodic:
    def __init__(
        self,
        embedder,
        *,
        decay_rate=0.03,
        score_decimals=4,
        mmr=True,
        mmr_lambda=0.6,
        dedup=True,
        dedup_threshold=0.88,
        min_chars=10,
        max_chars=2000,
        episodic_max=10_000,
        candidates=1000,
        backend="faiss",
    ):
        self.embedder = embedder
        self.decay_rate = min(max(decay_rate, 0), 10)
        self.score_decimals = score_decimals
        self.mmr = mmr
        self.mmr_lambda = mmr_lambda
        self.dedup = dedup and backend == "faiss"
        self.dedup_threshold = dedup_threshold
        self.min_chars = min_chars
        self.max_chars = max_chars
        self.episodic_max = episodic_max
        self.candidates = candidates
        self.rows: list[_Row] = []

    def write(self, unit: Unit, importance: float = 0.5) -> tuple[str, tuple[str, ...]]:
        text = unit.text.strip()
        if not text or len(text) < self.min_chars or (self.max_chars is not None and len(text) > self.max_chars):
            return "refused", ()
        if any(row.text[:80].lower() == text[:80].lower() for row in self.rows):
            return "duplicate", ()
        vector = self._embed(text, "document")
        displaced = []
        if self.dedup and self.rows:
            nearest = max(self.rows, key=lambda row: _cosine(row.vector, vector))
            if _cosine(nearest.vector, vector) > self.dedup_threshold:
                if len(text) <= 1.2 * len(nearest.text):
                    return "duplicate", ()
                self.rows.remove(nearest)
                displaced.append(nearest.unit)
        self.rows.append(_Row(unit.id, text, vector, unit.time, importance))
        if self.episodic_max is not None and len(self.rows) > self.episodic_max:
            worst = min(self.rows, key=lambda row: (row.importance, row.time or days_later(9999)))
            self.rows.remove(worst)
            displaced.append(worst.unit)
        return "stored", tuple(displaced)

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[tuple[str, float]]:
        vector = self._embed(query, "query")
        nearest = sorted(self.rows, key=lambda row: -_cosine(row.vector, vector))[: self.candidates]
        found = [row for row in self.rows if any(row is one for one in nearest)]
        ranked = sorted(((row, self._score(row, vector, as_of)) for row in found), key=lambda pair: -pair[1])
        if self.mmr:
            ranked = self._diverse(ranked, limit)
        return [(row.unit, score) for row, score in ranked[:limit]]

    def _score(self, row: _Row, query: list[float], as_of: datetime | None) -> float:
        days = 0 if as_of is None or row.time is None else max((as_of - row.time).days, 0)
        score = _cosine(row.vector, query) * (0.7 + 0.3 * row.importance) * math.exp(-self.decay_rate * days)
        if self.score_decimals is None:
            return score
        return round(score * 10.0**self.score_decimals) / 10.0**self.score_decimals

    def _diverse(self, ranked: list[tuple[_Row, float]], limit: int) -> list[tuple[_Row, float]]:
        best = max((score for _, score in ranked), default=0.0)
        chosen: list[tuple[_Row, float]] = []
        left = list(ranked)
        while left and len(chosen) < limit:
            winner, highest = None, -math.inf
            for row, score in left:
                relevance = score / best if best > 0 else score
                overlap = max((_jaccard(row.text, other.text) for other, _ in chosen), default=0.0)
                value = self.mmr_lambda * relevance - (1.0 - self.mmr_lambda) * overlap
                if value > highest:
                    winner, highest = (row, score), value
            chosen.append(winner)
            left = [pair for pair in left if pair[0] is not winner[0]]
        return chosen

    def _embed(self, text: str, kind: Kind) -> list[float]:
        return [float(component) for component in self.embedder.embed([text], kind).vectors[0]]


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@cache
def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _jaccard(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    return len(first & second) / len(first | second) if first | second else 0.0
