"""What measuring gives, pool by pool, and all pools together: the same however the work was shared out."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from membench.embedding.embedder import Kind
from membench.ruler.accounting import Accounting
from membench.ruler.scoring import Scored

Lengths = dict[Kind, Counter[int]]
"""How many distinct texts of each kind were embedded, by their length in tokens before the window cut them."""

SHARED = "all"
"""Stands for the instance in the one part of a shared pool."""


@dataclass(slots=True)
class Findings:
    """The scored queries in the order of the corpus, and the accounting.

    ``noisy``: a search that was asked again gave another list.
    """

    queries: list[Scored] = field(default_factory=list)
    accounting: Accounting = field(default_factory=Accounting)
    lengths: Lengths = field(default_factory=dict)
    noisy: bool = False

    def add(self, other: "Findings") -> None:
        """Takes in what the next pool gave."""
        self.queries += other.queries
        self.accounting.add(other.accounting)
        for kind, counts in other.lengths.items():
            self.lengths.setdefault(kind, Counter()).update(counts)
        self.noisy |= other.noisy


@dataclass(slots=True)
class Part:
    """One pool's findings. ``instance`` stands at ``place``, from 1, in the part of the corpus that is measured."""

    place: int
    instance: str
    findings: Findings = field(default_factory=Findings)


def together(parts: Iterable[Part]) -> Findings:
    """The findings of all ``parts``, whatever their order."""
    whole = Findings()
    for part in sorted(parts, key=lambda part: part.place):
        whole.add(part.findings)
    return whole
