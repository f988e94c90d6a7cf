"""A Dask cluster that measures: an instance of the corpus is a task, or, of a shared pool, some texts to embed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from membench.corpora.corpus import Corpus
from membench.corpora.types import Instance
from membench.embedding.embedder import Embedder
from membench.errors import UsageError
from membench.memories.spec import wants_embedder
from membench.ruler.part import Part
from membench.ruler.pool import Bench
from membench.ruler.retrieval import Wants, measured_parts
from membench.runs import cluster_worker
from membench.runs.clocked import Clocked
from membench.runs.cluster_client import ClusterClient, connected
from membench.runs.cluster_embedder import SpreadEmbedder
from membench.runs.cluster_task import body_of
from membench.runs.cluster_worker import Done, Setup
from membench.runs.request import Request

# One is measured while another is on its way there; more would only be memory, a haystack has megabytes.
_INSTANCES_A_WORKER = 2


@dataclass(frozen=True, slots=True)
class _Size:
    """What an instance adds to the progress of each arm."""

    turns: int
    queries: int


class Cluster:
    """An `Executor` on the workers of ``client``."""

    def __init__(self, request: Request, client: ClusterClient) -> None:
        self._request = request
        self._client = client
        self.run = uuid4().hex
        # How many threads each worker has that did something.
        self._workers: dict[str, int] = {}

    @property
    def threads(self) -> int:
        """Those of all workers that took part."""
        return sum(self._workers.values())

    def __str__(self) -> str:
        return f"dask, {len(self._workers)} worker{'' if len(self._workers) == 1 else 's'}"

    def spread(self, model: Embedder) -> Embedder:
        """For a shared pool, one that embeds on the workers; own pools are measured there, and need none here."""
        if self._request.pool == "own":
            return model
        return SpreadEmbedder(model, self._client, self._setup(model), self._note)

    def parts(
        self, corpus: Corpus, benches: Sequence[Bench], wants: Wants, clock: Clocked
    ) -> Iterator[tuple[int, Part]]:
        """Own pools as they are finished; a shared pool is measured here. Raises what the workers do, and
        InstrumentError for a cluster that fails.
        """
        if self._request.pool == "shared":
            yield from measured_parts(corpus, benches, wants)
            return
        for size, done in self._client.completed(
            self._tasks(corpus, benches, wants), lambda: _INSTANCES_A_WORKER * max(self._client.workers(), 1)
        ):
            self._note(done)
            if benches[0].embedder is not None:
                benches[0].embedder.tally.cached += done.embedded.cached
                benches[0].embedder.tally.computed += done.embedded.computed
            for one in done.parts:
                benches[one.number].timed.add(one.timed)
                clock.add(one.seconds)
                clock.advance("ingest", size.turns)
                clock.advance("search", size.queries)
                yield one.number, one.part

    def _tasks(self, corpus: Corpus, benches: Sequence[Bench], wants: Wants) -> Iterator[tuple[_Size, bytes]]:
        setup = replace(self._setup(benches[0].embedder), memory=benches[0].memory, text=corpus.text)
        for place, instance in enumerate(corpus.instances(), start=1):
            numbers = [bench.number for bench in benches if wants(instance.id, bench.number)]
            if numbers:
                yield _size(instance), body_of(cluster_worker.measure, setup, instance, place, numbers)

    def _setup(self, embedder: Embedder | None) -> Setup:
        # Where the corpus lies is no concern of the workers'.
        request = replace(self._request, corpus="", memory_options=dict(self._request.memory_options))
        return Setup(self.run, request, None if embedder is None else embedder.identity)

    def _note(self, done: Done) -> None:
        self._workers[done.worker] = done.threads


@contextmanager
def opened_cluster(request: Request, address: str) -> Iterator[Cluster]:
    """The cluster of the scheduler at ``address``; in the end its workers let go of what they hold for the run.

    Raises UsageError where it cannot be used for ``request``, InstrumentError where it is not there.
    """
    embeds = wants_embedder(request.memory, request.memory_python, request.memory_timeout)
    if request.pool == "shared" and not embeds:
        raise UsageError(
            f"--executor dask spreads the embedding of a shared pool, and the memory {request.memory} uses none.",
            "Leave out --executor and --scheduler.",
        )
    with connected(address) as client:
        cluster = Cluster(request, client)
        try:
            yield cluster
        finally:
            client.everywhere(body_of(cluster_worker.release, cluster.run))


def _size(instance: Instance) -> _Size:
    return _Size(
        turns=sum(len(session.turns) for session in instance.sessions),
        queries=sum(query.scorable for query in instance.queries),
    )
