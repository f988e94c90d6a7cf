"""A check from beginning to end: open the memory, judge it by every rule, report."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from membench.embedding.cached import CachedEmbedder
from membench.embedding.choice import EmbedderChoice, load_embedder
from membench.embedding.embedder import Embedder
from membench.errors import UsageError
from membench.memories.check.bench import Bench, Kind
from membench.memories.check.report import SCHEMA, CheckReport, Identity, Result
from membench.memories.check.rules import judged
from membench.memories.check.surroundings import Surroundings, own_temporary_folder
from membench.memories.protocol import Description, Memory
from membench.memories.spec import TIMEOUT, open_memory, parse_spec, wants_embedder

PATIENCE = 30.0
"""Seconds that a stored unit is waited for until it counts as never found."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is asked for: a SPEC with its options, as for a run.

    ``timeout`` in seconds bounds a call. ``model`` is what the run's embedder loads, None for the default.
    """

    spec: str
    options: Mapping[str, str] = field(default_factory=dict)
    python: Path | None = None
    timeout: float = TIMEOUT
    allow_persistent: bool = False
    model: str | None = None
    workers: int = 1
    patience: float = PATIENCE


def check_spec(request: CheckRequest, *, root: Path, told: Callable[[Result], None]) -> CheckReport:
    """Judges the memory that ``request`` names by every rule; ``told`` is given each result as soon as it is there.

    ``root`` is the cache folder. Meanwhile the temporary folder of this process is one of its own. Raises UsageError
    for what cannot be used, and for a memory that does not say that it is ephemeral and was not allowed; ModelError
    for a model that cannot be loaded.
    """
    parsed = parse_spec(request.spec, request.python)
    kind: Kind = "python" if parsed.kind == "built-in" else parsed.kind
    with own_temporary_folder() as temporary, _embedder(request, root) as embedder:
        surroundings = Surroundings(
            temporary=None if kind == "http" else temporary, threads=kind == "python", processes=kind != "http"
        )
        with _Memories(request, embedder) as memories:
            bench = Bench(
                memories.new(), kind, surroundings, request.patience, request.timeout, request.allow_persistent
            )
            results = []
            for result in judged(bench, memories.new):
                told(result)
                results.append(result)
    return report_of(parsed.shown, bench.description, agreed(results))


def agreed(results: list[Result]) -> list[Result]:
    """``results``, in which no rule holds for which another could not be judged: that one has seen what it did not."""
    found = []
    for result in results:
        sign = f": see the rule `{result.name}`"
        witness = next((one for one in results if one.holds is None and sign in one.reason), None)
        if result.holds and witness is not None:
            reason = f"{witness.reason.partition(sign)[0]}; the rule `{witness.name}` came upon it."
            result = result.model_copy(update={"holds": False, "reason": reason})
        found.append(result)
    return found


def report_of(spec: str, description: Description | None, results: list[Result]) -> CheckReport:
    """The results as data. ``description`` is None where the memory gave none."""
    memory = None
    if description is not None:
        memory = Identity(
            name=description.name,
            version=description.version,
            backend=description.backend,
            settings=dict(description.settings),
            ephemeral=description.ephemeral,
            honours_as_of=description.honours_as_of,
            concurrency=description.concurrency,
        )
    holds = all(result.holds is not False for result in results)
    return CheckReport(schema=SCHEMA, spec=spec, memory=memory, holds=holds, results=results)


class _Memories:
    """The memory that is open, until a new one takes its place."""

    def __init__(self, request: CheckRequest, embedder: Embedder | None) -> None:
        self._request = request
        self._embedder = embedder
        self._open = ExitStack()

    def __enter__(self) -> "_Memories":
        return self

    def __exit__(self, *failure: object) -> None:
        self._open.close()

    def new(self) -> Memory:
        self._open.close()
        asked = self._request
        return self._open.enter_context(
            open_memory(asked.spec, asked.options, self._embedder, python=asked.python, timeout=asked.timeout)
        )


@contextmanager
def _embedder(request: CheckRequest, root: Path) -> Iterator[Embedder | None]:
    """The run's embedder, for a memory that wants one; what it computes is kept in memory only."""
    if not wants_embedder(request.spec, request.python):
        if request.model is not None:
            raise UsageError(f"The memory {request.spec} uses no embedder: leave --model out.")
        yield None
        return
    choice = EmbedderChoice() if request.model is None else EmbedderChoice(request.model)
    with load_embedder(choice, root, request.workers) as model:
        yield CachedEmbedder(model, None)
