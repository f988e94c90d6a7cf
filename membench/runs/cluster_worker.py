"""What a worker process of a Dask cluster does: it measures instances, or embeds texts, for a run that is elsewhere.

What a run measures with is opened once in a process and kept until the run ends, or another begins. Models, and the
vectors of a measured instance, are those of the cache folder of the worker.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

from membench.corpora.rendering import TextOptions
from membench.corpora.types import Instance
from membench.embedding.cached import EmbeddingTally
from membench.embedding.choice import load_embedder
from membench.embedding.embedder import Embedded, Embedder, EmbedderIdentity, Kind
from membench.embedding.toy import ToyEmbedder
from membench.errors import InstrumentError
from membench.files.paths import cache_root
from membench.memories.protocol import Description
from membench.ruler.observer import Phase, Silent
from membench.ruler.part import Part
from membench.ruler.pool import Bench, Timed
from membench.ruler.retrieval import measured_instance
from membench.runs.clocked import Clocked
from membench.runs.request import Request
from membench.runs.workbench import Workbench, opened_workbench

# Of an embedder's identity: the probe tells of another build or instruction set where it makes a difference.
_TOLD = ("sha256", "dimension", "pooling", "document_prompt", "query_prompt", "input_window", "probe")

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Setup:
    """What all tasks of a run have in common: ``run`` names it, ``memory`` and ``identity`` are what its client has."""

    run: str
    request: Request
    identity: EmbedderIdentity | None
    memory: Description | None = None
    text: TextOptions = field(default_factory=TextOptions)


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """A part of the arm of that number, and how long it took."""

    number: int
    part: Part
    timed: Timed
    seconds: Mapping[tuple[Phase, int], float]


@dataclass(frozen=True, slots=True)
class Done:
    """What one task gave: parts, or vectors. ``embedded`` counts the texts that measuring needed."""

    worker: str
    threads: int
    parts: Sequence[MeasuredPart] = ()
    embedded: EmbeddingTally = field(default_factory=EmbeddingTally)
    vectors: Embedded | None = None


def measure(setup: Setup, instance: Instance, place: int, numbers: Sequence[int], worker: str, threads: int) -> Done:
    """The parts of ``instance`` for the arms of these ``numbers``.

    Raises InstrumentError where this worker's embedder or memory is not the client's, and what measuring raises.
    """
    bench = _kept.having(setup.run, lambda: _workbench(setup, threads))
    before = EmbeddingTally() if bench.embedder is None else replace(bench.embedder.tally)
    clocks = {number: Clocked(Silent()) for number in numbers}
    benches = [
        Bench(bench.arms[number], bench.memory, bench.embedder, clock, number, Timed())
        for number, clock in clocks.items()
    ]
    timed = {one.number: one.timed for one in benches}
    parts = [
        MeasuredPart(number, part, timed[number], clocks[number].seconds)
        for number, part in measured_instance(setup.text, instance, place, benches)
    ]
    after = before if bench.embedder is None else bench.embedder.tally
    return Done(worker, threads, parts, EmbeddingTally(after.cached - before.cached, after.computed - before.computed))


def embed(setup: Setup, texts: Sequence[str], kind: Kind, worker: str, threads: int) -> Done:
    """A row for each of ``texts``. Raises InstrumentError as `measure` does."""
    embedder = _kept.having(setup.run, lambda: _model(setup, threads))
    return Done(worker, threads, vectors=embedder.embed(texts, kind))


def release(run: str) -> None:
    """Closes what is kept for ``run``."""
    _kept.let_go(run)


class _Kept:
    """What the last run has open in this process."""

    def __init__(self) -> None:
        self._run: str | None = None
        self._stack = ExitStack()
        self._opened: object = None

    def having(self, run: str, opened: "Callable[[], AbstractContextManager[Opened]]") -> Opened:
        """What is kept for ``run``; where that is nothing, what ``opened`` gives, in place of another run's."""
        if self._run != run:
            self.let_go(self._run)
            self._opened = self._stack.enter_context(opened())
            self._run = run
        return self._opened  # type: ignore[return-value]

    def let_go(self, run: str | None) -> None:
        if self._run == run:
            self._run = self._opened = None
            self._stack.close()


_kept = _Kept()


@contextmanager
def _workbench(setup: Setup, threads: int) -> Iterator[Workbench]:
    with opened_workbench(replace(setup.request, workers=threads), cache_root()) as bench:
        _refuse_other("embedder", None if bench.embedder is None else bench.embedder.identity, setup.identity, _TOLD)
        if setup.memory is not None:
            _refuse_other("memory", bench.memory, setup.memory, list(asdict(setup.memory)))
        yield bench


@contextmanager
def _model(setup: Setup, threads: int) -> Iterator[Embedder]:
    with ExitStack() as stack:
        model: Embedder = (
            ToyEmbedder()
            if setup.request.toy
            else stack.enter_context(load_embedder(setup.request.embedder, cache_root(), threads))
        )
        _refuse_other("embedder", model.identity, setup.identity, _TOLD)
        yield model


def _refuse_other(
    what: str,
    found: EmbedderIdentity | Description | None,
    expected: EmbedderIdentity | Description | None,
    names: Sequence[str],
) -> None:
    """Raises InstrumentError that names what differs of ``names``."""
    pairs = {name: (getattr(found, name, None), getattr(expected, name, None)) for name in names}
    told = "; ".join(f"{name} {there!r}, expected {here!r}" for name, (there, here) in pairs.items() if there != here)
    if told:
        raise InstrumentError(
            f"the {what} is another than the client's: {told}",
            "Have the same model, memory and machine code on every worker; one measurement cannot mix two.",
        )
