"""How long texts were and what an input window took off them, from how many there were of each length."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LengthFigures:
    """Lengths in tokens. ``share_seen`` is of all tokens; the quantiles are lengths that occur (nearest rank). These
    are None where there is no text.
    """

    texts: int
    tokens: int
    texts_cut: int
    tokens_cut: int
    share_seen: float | None
    p50: int | None
    p90: int | None
    p99: int | None
    longest: int | None


def length_figures(counts: Mapping[int, int], window: int | None) -> LengthFigures:
    """Of ``counts`` texts of each length, of which at most ``window`` tokens are seen, None for all."""
    texts = sum(counts.values())
    tokens = sum(length * count for length, count in counts.items())
    over = {} if window is None else {length: count for length, count in counts.items() if length > window}
    cut = sum((length - (window or 0)) * count for length, count in over.items())
    return LengthFigures(
        texts=texts,
        tokens=tokens,
        texts_cut=sum(over.values()),
        tokens_cut=cut,
        share_seen=(tokens - cut) / tokens if tokens else None,
        p50=_quantile(counts, texts, 50),
        p90=_quantile(counts, texts, 90),
        p99=_quantile(counts, texts, 99),
        longest=max(counts, default=None),
    )


def _quantile(counts: Mapping[int, int], texts: int, percent: int) -> int | None:
    wanted = math.ceil(texts * percent / 100)
    reached = 0
    for length in sorted(counts):
        reached += counts[length]
        if reached >= wanted:
            return length
    return None
