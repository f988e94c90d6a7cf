"""What is known of an arm's measurement before anything is measured, and is the same for every part of it."""

from membench.reports.measurement import ArmSettings, Corpus, Count, Embedder, MemoryIdentity
from membench.reports.model import Report


class Head(Report):
    """``unanswerable`` and ``without_gold`` count the queries that are excluded."""

    corpus: Corpus
    arm: ArmSettings
    memory: MemoryIdentity
    embedder: Embedder | None
    unanswerable: Count
    without_gold: Count
