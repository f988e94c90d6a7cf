"""Rank metrics of one query, binary relevance.

Each takes the 1-based ranks of the gold items in the observed list, None for one that is not in it, at least one item.
"""

import math
from collections.abc import Callable, Mapping, Sequence

Ranks = Sequence[int | None]


def _within(ranks: Ranks, k: int) -> list[int]:
    return [rank for rank in ranks if rank is not None and rank <= k]


def recall_all(ranks: Ranks, k: int) -> float:
    """1 if every gold item is among the first k, else 0: three of four needed sessions answer no question."""
    return float(len(_within(ranks, k)) == len(ranks))


def recall_any(ranks: Ranks, k: int) -> float:
    """1 if some gold item is among the first k, else 0. Also called hit@k, and by some recall@k."""
    return float(bool(_within(ranks, k)))


def recall_micro(ranks: Ranks, k: int) -> float:
    """The share of gold items among the first k: the recall of the textbooks."""
    return len(_within(ranks, k)) / len(ranks)


def ndcg(ranks: Ranks, k: int) -> float:
    """Discounted gain of the gold items among the first k over the best possible (Järvelin and Kekäläinen, 2002)."""
    gain = math.fsum(1.0 / math.log2(rank + 1) for rank in _within(ranks, k))
    ideal = math.fsum(1.0 / math.log2(place + 1) for place in range(1, min(k, len(ranks)) + 1))
    return gain / ideal


def reciprocal_rank(ranks: Ranks) -> float:
    """1 over the rank of the first gold item, 0 if none is in the observed list."""
    found = [rank for rank in ranks if rank is not None]
    return 1.0 / min(found) if found else 0.0


AT_CUT_OFF: Mapping[str, Callable[[Ranks, int], float]] = {
    "recall_all": recall_all,
    "recall_any": recall_any,
    "recall_micro": recall_micro,
    "ndcg": ndcg,
}
"""The metrics that take a cut-off, the headline first."""
