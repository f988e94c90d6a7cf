"""The corpora that membench knows, each pinned to the byte. None is part of membench but the sample."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from membench.errors import UsageError

Format = Literal["locomo", "longmemeval", "membench"]
Tier = Literal["verified", "pinned-upstream", "embedded"]

TIERS: Mapping[Tier, str] = MappingProxyType(
    {
        "verified": "pinned: these bytes were measured here",
        "pinned-upstream": "pinned upstream: the digest was read in public harnesses, the file was not downloaded here",
        "embedded": "ships with membench",
    }
)

_LONGMEMEVAL = (
    "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f"
)


@dataclass(frozen=True, slots=True)
class CorpusPin:
    """One corpus: facts only. ``size`` in bytes; ``url``, ``sha256`` and ``size`` are None for the embedded sample.

    ``evidence_only``: every session of every haystack is gold, so that a query's own pool measures nothing.
    """

    key: str
    title: str
    format: Format
    url: str | None
    sha256: str | None
    size: int | None
    licence: str
    tier: Tier
    evidence_only: bool = False


_PINS = (
    CorpusPin(
        "sample",
        "membench's own sample, written by a seeded generator",
        "membench",
        None,
        None,
        None,
        "CC0-1.0",
        "embedded",
    ),
    CorpusPin(
        "locomo10",
        "LoCoMo, 10 conversations",
        "locomo",
        "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
        "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        2_805_274,
        "CC BY-NC 4.0",
        "verified",
    ),
    CorpusPin(
        "longmemeval_oracle",
        "LongMemEval, evidence sessions only (its own pools measure nothing)",
        "longmemeval",
        f"{_LONGMEMEVAL}/longmemeval_oracle.json",
        "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        15_388_478,
        "MIT",
        "verified",
        evidence_only=True,
    ),
    CorpusPin(
        "longmemeval_s",
        "LongMemEval S, about 48 sessions a question",
        "longmemeval",
        f"{_LONGMEMEVAL}/longmemeval_s_cleaned.json",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        277_383_467,
        "MIT",
        "pinned-upstream",
    ),
    CorpusPin(
        "longmemeval_m",
        "LongMemEval M, about 500 sessions a question",
        "longmemeval",
        f"{_LONGMEMEVAL}/longmemeval_m_cleaned.json",
        "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
        2_737_100_077,
        "MIT",
        "pinned-upstream",
    ),
)

CORPORA: Mapping[str, CorpusPin] = MappingProxyType({pin.key: pin for pin in _PINS})


def find_corpus(key: str) -> CorpusPin:
    """The pin of ``key``; UsageError that lists the known keys, and the closest, if there is none."""
    if key in CORPORA:
        return CORPORA[key]
    close = difflib.get_close_matches(key, CORPORA, n=1)
    guess = f"Did you mean {close[0]}? " if close else ""
    remedy = f"{guess}The known ones are: {', '.join(CORPORA)}; a file of your own needs --format."
    raise UsageError(f"unknown corpus {key!r}", remedy)
