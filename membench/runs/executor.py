"""Who measures: this process, or a Dask cluster. The parts are the same bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from membench.corpora.corpus import Corpus
from membench.embedding.embedder import Embedder
from membench.ruler.part import Part
from membench.ruler.pool import Bench
from membench.ruler.retrieval import Wants, measured_parts
from membench.runs.clocked import Clocked
from membench.runs.request import Request


class Executor(Protocol):
    """``threads``: how many texts were embedded at a time."""

    @property
    def threads(self) -> int:
        """Known in the end only."""
        ...

    def spread(self, model: Embedder) -> Embedder:
        """What embeds in the place of ``model``, the same vectors."""
        ...

    def parts(
        self, corpus: Corpus, benches: Sequence[Bench], wants: Wants, clock: Clocked
    ) -> Iterator[tuple[int, Part]]:
        """As `measured_parts`, in any order; ``clock`` is told of what is measured elsewhere."""
        ...

    def __str__(self) -> str:
        """For provenance, known in the end only."""
        ...


class Local:
    """An `Executor` in this process."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def spread(self, model: Embedder) -> Embedder:
        """The model itself."""
        return model

    def parts(
        self, corpus: Corpus, benches: Sequence[Bench], wants: Wants, clock: Clocked
    ) -> Iterator[tuple[int, Part]]:
        """Every part, one after the other; the observer of ``benches`` is told of each."""
        del clock
        return measured_parts(corpus, benches, wants)

    def __str__(self) -> str:
        return "local"


@contextmanager
def opened_executor(request: Request) -> Iterator[Executor]:
    """The one that ``request`` asks for.

    Raises UsageError where it cannot be used, InstrumentError for a cluster that is not there.
    """
    if request.scheduler is None:
        yield Local(request.workers)
        return
    # Imported here, as a run in this process does without it.
    from membench.runs.cluster import opened_cluster

    with opened_cluster(request, request.scheduler) as cluster:
        yield cluster
