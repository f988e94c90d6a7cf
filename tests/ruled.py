"""A corpus through the ruler in one go, for tests: the parts of each arm and what they make together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from membench.corpora.corpus import Corpus
from membench.embedding.cached import CachedEmbedder
from membench.memories.protocol import Description
from membench.ruler import calls
from membench.ruler.accounting import Accounting
from membench.ruler.arm import Arm
from membench.ruler.fitness import refuse_unfit
from membench.ruler.observer import Observer
from membench.ruler.part import Findings, Part, together
from membench.ruler.pool import Bench, Timed
from membench.ruler.retrieval import measured_parts
from membench.ruler.scoring import Scored


@dataclass(slots=True)
class ArmResult:
    """What measuring one arm gave: a part for each pool, and how long the calls took."""

    arm: Arm
    memory: Description
    parts: list[Part] = field(default_factory=list)
    timed: Timed = field(default_factory=Timed)

    @property
    def findings(self) -> Findings:
        """Of all its pools."""
        return together(self.parts)

    @property
    def queries(self) -> list[Scored]:
        """The scored queries in the order of the corpus."""
        return self.findings.queries

    @property
    def accounting(self) -> Accounting:
        """Of all its pools."""
        return self.findings.accounting

    @property
    def noisy(self) -> bool:
        """Whether a search that was asked again gave another list."""
        return self.findings.noisy


def measure(
    corpus: Corpus,
    arms: Sequence[Arm],
    embedder: CachedEmbedder | None,
    observer: Observer,
) -> list[ArmResult]:
    """Measures ``arms`` on the whole of ``corpus``.

    ``embedder`` is the one that the memories were built with, if any. Raises CorpusError for a corpus that cannot tell
    one memory from another, UsageError for a timeline that it has no dates for, MemoryCallError and ModelError for a
    call that fails.
    """
    results = [ArmResult(arm, calls.describe(arm.memory)) for arm in arms]
    refuse_unfit(corpus, arms, [result.memory for result in results])
    benches = [
        Bench(result.arm, result.memory, embedder, observer, number, result.timed)
        for number, result in enumerate(results)
    ]
    for number, part in measured_parts(corpus, benches, lambda pool, number: True):
        results[number].parts.append(part)
    return results
