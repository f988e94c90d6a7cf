"""The episodic memory's named options."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from membench.memories.options import OrNone, Settings, Switch

_FASTEST_DECAY = 10.0


class EpisodicSettings(Settings):
    """Defaults are those of the memory that it models.

    ``decay_rate`` is a day's, clamped to 0..10. ``score_decimals`` rounds the score before the sort. ``mmr_lambda``
    weighs relevance against word overlap. ``dedup`` is the near-duplicate check by cosine, which needs the faiss
    backend; text whose first 80 characters already stand is refused with it or without. ``min_chars`` and ``max_chars``
    bound what is stored. Above ``episodic_max`` rows the least important, then the oldest are forgotten.
    ``candidates`` is how many rows, the nearest by cosine, are ranked.
    """

    decay_rate: Annotated[float, AfterValidator(lambda rate: min(max(rate, 0.0), _FASTEST_DECAY))] = 0.03
    score_decimals: Annotated[Annotated[int, Field(ge=0, le=15)] | None, OrNone] = 4
    mmr: Switch = True
    mmr_lambda: Annotated[float, Field(ge=0.0, le=1.0)] = 0.6
    dedup: Switch = True
    dedup_threshold: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.88
    min_chars: Annotated[int, Field(ge=0)] = 10
    max_chars: Annotated[Annotated[int, Field(ge=1)] | None, OrNone] = 2000
    episodic_max: Annotated[Annotated[int, Field(ge=1)] | None, OrNone] = 10_000
    candidates: Annotated[int, Field(ge=1)] = 1000
    backend: Literal["faiss", "cosine"] = "faiss"
