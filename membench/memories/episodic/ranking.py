"""How the episodic memory orders its rows: score, stable sort, maximal marginal relevance. Pure functions."""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from membench.memories.episodic.words import Overlaps

# Ten years: what is older is worked out for each search.
_TABLED_DAYS = 3653
# How many positions a limit of one is looked for in, at first.
_FIRST_REACH = 8

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
    oldest = int(days.max(initial=0))
    if oldest < _TABLED_DAYS:
        return _decay_table(rate)[days]
    distinct, places = np.unique(days, return_inverse=True)
    return _factors(distinct.tolist(), rate)[places]


@lru_cache(maxsize=64)
def _decay_table(rate: float) -> Floats:
    return _factors(range(_TABLED_DAYS), rate)


def _factors(days: Iterable[int], rate: float) -> Floats:
    return np.array([math.exp(-rate * day) for day in days], dtype=np.float64)


def descending(score: Floats) -> Integers:
    """Positions by falling score; equal scores keep their order."""
    return np.argsort(-score, kind="stable").astype(np.int64)


def relevance(score: Floats) -> Floats:
    """Scores over the best one. Where no score is positive that quotient would turn the order round, so they stay."""
    best = float(score.max(initial=0.0))
    return score / best if best > 0.0 else score


def maximal_marginal_relevance(
    relevant: Floats, overlaps_within: Callable[[int], Overlaps], weight: float, limit: int
) -> list[int]:
    """Positions in the order chosen (Carbonell and Goldstein, 1998). ``relevant`` falls.

    Each step takes the largest ``weight`` x relevance - (1 - ``weight``) x the largest overlap with what is already
    chosen; the earlier position wins a tie. ``overlaps_within(n)`` gives the overlaps among the first n positions.

    Only as many positions are looked at as can win: an overlap is never negative, so a position whose ``weight`` x
    relevance is not above the smallest value that was chosen was never the largest.
    """
    gain = weight * relevant
    reach = _FIRST_REACH * limit
    while True:
        chosen, smallest = _greedy(gain[:reach].copy(), overlaps_within(min(reach, len(gain))), weight, limit)
        if reach >= len(gain) or gain[reach] <= smallest:
            return chosen
        reach *= 4


def _greedy(gain: Floats, overlaps: Overlaps, weight: float, limit: int) -> tuple[list[int], float]:
    """The positions chosen, and the smallest value that one was chosen with. Uses up ``gain``."""
    chosen: list[int] = []
    smallest = math.inf
    value = gain.copy()
    for _ in range(min(limit, len(gain))):
        best = int(value.argmax())
        chosen.append(best)
        smallest = min(smallest, float(value[best]))
        if len(chosen) == limit:
            break
        # The largest overlap so far takes the most off: the same as the smallest of what each would leave.
        np.minimum(value, gain - (1.0 - weight) * overlaps(best), out=value)
        gain[best] = value[best] = -np.inf
    return chosen, smallest
