"""From the ranks of each query to figures, each with its denominator and the fingerprint of its population.

A query counts at a cut-off only if its observed list is at least that long: beyond it, a miss would say how wide the
search window was, not how good the ranking is.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from membench.metrics.rank import AT_CUT_OFF, Ranks, reciprocal_rank


@dataclass(frozen=True, slots=True)
class Observed:
    """One query at one level: the ranks of its gold items, and how many distinct items the ranked list held."""

    query: str
    ranks: Ranks
    observed: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean over ``queries`` queries; ``population`` fingerprints their ids."""

    value: float
    queries: int
    population: str


@dataclass(frozen=True, slots=True)
class Figures:
    """``at``: metric to cut-off to figure; a cut-off that no query can be observed at is in ``unobserved`` instead.

    ``mrr`` is over all queries, None where there are none.
    """

    at: dict[str, dict[int, Figure]]
    mrr: Figure | None
    unobserved: tuple[int, ...]


def figures(queries: Sequence[Observed], cut_offs: Iterable[int]) -> Figures:
    """All metrics at each of ``cut_offs``, those that survive."""
    at: dict[str, dict[int, Figure]] = {name: {} for name in AT_CUT_OFF}
    unobserved = []
    for k in cut_offs:
        counted = [query for query in queries if query.observed >= k]
        if not counted:
            unobserved.append(k)
            continue
        population = fingerprint(query.query for query in counted)
        for name, metric in AT_CUT_OFF.items():
            at[name][k] = _figure([metric(query.ranks, k) for query in counted], population)
    everyone = fingerprint(query.query for query in queries)
    mrr = _figure([reciprocal_rank(query.ranks) for query in queries], everyone) if queries else None
    return Figures(at, mrr, tuple(unobserved))


def fingerprint(ids: Iterable[str]) -> str:
    """16 hexadecimal digits of a SHA-256 over the sorted ids: equal for equal sets."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]


def _figure(values: Sequence[float], population: str) -> Figure:
    return Figure(math.fsum(values) / len(values), len(values), population)
