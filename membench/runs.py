"""A run from beginning to end: open, load, measure, write. What the command and the action both call."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from membench.corpora.catalog import Format
from membench.corpora.corpus import Reading, open_corpus
from membench.embedding.cache import VectorCache, space_name
from membench.embedding.cached import CachedEmbedder
from membench.embedding.choice import EmbedderChoice, load_embedder
from membench.embedding.toy import ToyEmbedder
from membench.errors import UsageError
from membench.files.atomic import ensure_writable, write_together
from membench.files.paths import vectors_dir
from membench.memories.catalog import SETTINGS, settings_of
from membench.memories.protocol import Memory
from membench.memories.spec import open_memory, wants_embedder
from membench.render.measurement import measurement_markdown
from membench.reports.build import measurement_of
from membench.reports.canonical import canonical_json
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of
from membench.reports.provenance import SCHEMA as PROVENANCE_SCHEMA
from membench.reports.provenance import Embedding, Provenance, Seconds, Source, calls_of, host, peak_memory_mb, versions
from membench.reports.rankings import packed, rankings_lines
from membench.ruler import calls
from membench.ruler.arm import CHUNK_SIZE, CUT_OFFS, LIMIT, Arm
from membench.ruler.fragments import Granularity
from membench.ruler.observer import Observer, Phase
from membench.ruler.retrieval import ArmResult, measure
from membench.ruler.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a retrieval run is asked for; one arm a timeline. ``toy`` takes the place of a model.

    ``memory`` is a name or a specification (`membench.memories.spec`); ``memory_python`` the interpreter that runs a
    Python memory instead of this one; ``memory_timeout`` bounds each of its calls, in seconds.
    """

    corpus: str
    file_format: Format | None = None
    reading: Reading = field(default_factory=Reading)
    timelines: tuple[Timeline, ...] = ("now",)
    as_of: datetime | None = None
    granularity: Granularity = "turn"
    chunk_size: int = CHUNK_SIZE
    limit: int = LIMIT
    cut_offs: tuple[int, ...] = CUT_OFFS
    memory: str = "episodic"
    memory_options: Mapping[str, str] = field(default_factory=dict)
    embedder: EmbedderChoice = field(default_factory=EmbedderChoice)
    toy: bool = False
    workers: int = 1
    memory_python: Path | None = None
    memory_timeout: float = 60.0
    allow_persistent: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One arm, measured and written. ``stem`` names its files in the report folder."""

    stem: str
    measurement: Measurement
    provenance: Provenance
    measurement_path: Path
    report_path: Path


@dataclass(slots=True)
class _Clocked:
    """An observer that passes on what it is told, and adds up the seconds of each phase of each arm."""

    inner: Observer
    seconds: dict[tuple[Phase, int], float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: Phase, arm: int) -> Iterator[None]:
        begun = perf_counter()
        with self.inner.phase(name, arm):
            yield
        self.seconds[name, arm] = self.seconds.get((name, arm), 0.0) + perf_counter() - begun

    def advance(self, name: Phase, amount: int) -> None:
        self.inner.advance(name, amount)


def run_retrieval(
    request: Request,
    *,
    root: Path,
    report_dir: Path,
    command: list[str],
    observer_for: Callable[[int, int], Observer],
    templates: Path | None = None,
    source: Source | None = None,
) -> list[Outcome]:
    """Measures every arm of ``request`` and writes its files to ``report_dir``.

    ``root`` is the cache folder; ``command`` is kept in provenance; ``observer_for`` is told how many turns will be
    ingested and how many queries searched; ``templates`` is a folder of the caller's own; ``source`` is kept in
    provenance too. Raises MembenchError for
    whatever goes wrong; then no file is written that was not measured to its end.
    """
    begun, started = perf_counter(), datetime.now(UTC)
    _refuse_unused(request)
    ensure_writable(report_dir)
    corpus = open_corpus(request.corpus, root, request.reading, request.file_format)
    with _embedder(request, root) as embedder, _memory(request, embedder) as memory:
        arms = [
            Arm(
                memory=memory,
                memory_options=request.memory_options,
                timeline=timeline,
                as_of=request.as_of,
                granularity=request.granularity,
                chunk_size=request.chunk_size,
                limit=request.limit,
                cut_offs=request.cut_offs,
            )
            for timeline in dict.fromkeys(request.timelines)
        ]
        observer = _Clocked(observer_for(corpus.survey.turns * len(arms), corpus.survey.scorable * len(arms)))
        results = measure(corpus, arms, embedder, observer)
        identity = None if embedder is None else embedder.identity
        tally = None
        if embedder is not None:
            tally = Embedding(workers=request.workers, cached=embedder.tally.cached, computed=embedder.tally.computed)
    run_seconds = perf_counter() - begun
    outcomes = []
    for number, result in enumerate(results):
        measurement = measurement_of(corpus, result, identity, request.embedder)
        seconds = Seconds(
            run=round(run_seconds, 3),
            ingest=round(observer.seconds.get(("ingest", number), 0.0), 3),
            search=round(observer.seconds.get(("search", number), 0.0), 3),
        )
        outcomes.append(_write(measurement, result, report_dir, templates, command, source, started, seconds, tally))
    return outcomes


def _refuse_unused(request: Request) -> None:
    """Raises UsageError for what is unknown, and for what was asked for and would make no difference."""
    if request.memory in SETTINGS:
        settings_of(request.memory, request.memory_options)
    if request.as_of is not None and "literal" not in request.timelines:
        raise UsageError(
            "--as-of is the date of the literal timeline, which is not asked for.", "Add --timeline literal."
        )
    if not wants_embedder(request.memory, request.memory_python, request.memory_timeout) and (
        request.toy or request.embedder != EmbedderChoice()
    ):
        raise UsageError(f"The memory {request.memory} uses no embedder: leave out what chooses or changes one.")


@contextmanager
def _embedder(request: Request, root: Path) -> Iterator[CachedEmbedder | None]:
    """What the memory embeds with: nothing, the toy without a cache on disk, or the model with one."""
    if not wants_embedder(request.memory, request.memory_python, request.memory_timeout):
        yield None
    elif request.toy:
        yield CachedEmbedder(ToyEmbedder(), None)
    else:
        with load_embedder(request.embedder, root, request.workers) as model:
            path = vectors_dir(root) / f"{space_name(model.identity)}.sqlite"
            with VectorCache(path, model.identity.dimension) as cache:
                yield CachedEmbedder(model, cache)


@contextmanager
def _memory(request: Request, embedder: CachedEmbedder | None) -> Iterator[Memory]:
    """The memory under test. Raises UsageError for one that may hold, or keep, what is not this run's."""
    python, timeout = request.memory_python, request.memory_timeout
    with open_memory(request.memory, request.memory_options, embedder, python=python, timeout=timeout) as memory:
        found = calls.describe(memory)
        if not found.ephemeral and not request.allow_persistent:
            raise UsageError(
                f"The memory {found.name} does not say that it is ephemeral: what is written may stay in it, and what "
                "it holds already may come back.",
                "Let describe() say ephemeral where it is so, or allow it with --allow-persistent.",
            )
        yield memory


def _write(
    measurement: Measurement,
    result: ArmResult,
    report_dir: Path,
    templates: Path | None,
    command: list[str],
    source: Source | None,
    started: datetime,
    seconds: Seconds,
    tally: Embedding | None,
) -> Outcome:
    stem = stem_of(measurement)
    body = canonical_json(measurement)
    lines = rankings_lines(result.queries)
    provenance = Provenance(
        schema=PROVENANCE_SCHEMA,
        measurement_sha256=hashlib.sha256(body).hexdigest(),
        rankings_sha256=hashlib.sha256(lines).hexdigest(),
        command=command,
        source=source,
        started=started.isoformat(timespec="seconds"),
        seconds=seconds,
        embedding=tally,
        writes=calls_of(result.writes),
        searches=calls_of(result.searches),
        peak_memory_mb=peak_memory_mb(),
        host=host(),
        versions=versions(),
    )
    paths = {
        suffix: report_dir / f"{stem}.{suffix}" for suffix in ("json", "provenance.json", "rankings.jsonl.gz", "md")
    }
    write_together(
        {
            paths["json"]: body,
            paths["provenance.json"]: canonical_json(provenance),
            paths["rankings.jsonl.gz"]: packed(lines),
            paths["md"]: measurement_markdown(measurement, provenance, templates).encode(),
        }
    )
    return Outcome(stem, measurement, provenance, paths["json"], paths["md"])
