"""How the episodic memory orders its rows: score, stable sort, maximal marginal relevance. Pure functions."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def cosines(vectors: npt.NDArray[np.floating], query: npt.NDArray[np.floating]) -> Floats:
    """The float64 dot product of each row with ``query``: the cosine, for vectors of unit length.

    `einsum` sums every row in the same way wherever it stands, so that equal vectors tie exactly; a BLAS product does
    not promise that.
    """
    product: Floats = np.einsum("ij,j->i", vectors.astype(np.float64, copy=False), query.astype(np.float64))
    return product


def whole_days(seconds: Integers) -> Integers:
    """Ages in seconds to whole days, never below zero."""
    return np.maximum(seconds // 86_400, 0)


def scores(cosine: Floats, importance: Floats, days: Integers, decay_rate: float, decimals: int | None) -> Floats:
    """Cosine x (0.7 + 0.3 x importance) x exp(-decay_rate x days), rounded to ``decimals`` unless that is None."""
    score = cosine * (0.7 + 0.3 * importance) * _decay(days, decay_rate)
    rounded: Floats = score if decimals is None else np.round(score, decimals)
    return rounded


def _decay(days: Integers, rate: float) -> Floats:
    """exp(-rate x days). numpy's own exp gives other last bits with AVX-512 than without; the C library's does not."""
    distinct, places = np.unique(days, return_inverse=True)
    factors: Floats = np.array([math.exp(-rate * day) for day in distinct.tolist()], dtype=np.float64)[places]
    return factors


def descending(score: Floats) -> Integers:
    """Positions by falling score; equal scores keep their order."""
    return np.argsort(-score, kind="stable").astype(np.int64)


def relevance(score: Floats) -> Floats:
    """Scores over the best one. Where no score is positive that quotient would turn the order round, so they stay."""
    best = float(score.max(initial=0.0))
    return score / best if best > 0.0 else score


def maximal_marginal_relevance(
    relevant: Floats, overlaps: Callable[[int], Floats], weight: float, limit: int
) -> list[int]:
    """Positions in the order chosen (Carbonell and Goldstein, 1998).

    Each step takes the largest ``weight`` x relevance - (1 - ``weight``) x the largest overlap with what is already
    chosen; the earlier position wins a tie. ``overlaps(i)`` gives the overlap of position i with every position.
    """
    chosen: list[int] = []
    gain = weight * relevant
    largest = np.zeros_like(relevant)
    for _ in range(min(limit, len(relevant))):
        best = int(np.argmax(gain - (1.0 - weight) * largest))
        chosen.append(best)
        gain[best] = -np.inf
        np.maximum(largest, overlaps(best), out=largest)
    return chosen
