"""A retrieval run: every arm measured on the corpus, or on one shard of it, and written."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from membench.corpora.corpus import Corpus, open_corpus
from membench.corpora.shards import Shard, assign
from membench.errors import UsageError
from membench.files.atomic import ensure_writable, write_atomic
from membench.memories.catalog import SETTINGS
from membench.reports.build import head_of
from membench.reports.canonical import canonical_json
from membench.reports.head import Head
from membench.reports.provenance import (
    SCHEMA,
    Embedding,
    Provenance,
    Seconds,
    ShardRun,
    Source,
    calls_of,
    host,
    peak_memory_mb,
    versions,
)
from membench.reports.shard import Shard as ShardReport
from membench.reports.shard import shard_of, shard_stem
from membench.ruler.fitness import refuse_unfit
from membench.ruler.observer import Observer
from membench.ruler.part import Part
from membench.ruler.pool import Bench, Timed
from membench.runs.clocked import Clocked
from membench.runs.executor import Executor, opened_executor
from membench.runs.journal import Journal, forget_old
from membench.runs.outcome import Outcome, write_outcome
from membench.runs.request import Request, refuse_unused
from membench.runs.workbench import Workbench, opened_workbench

Observing = Callable[[int, int], Observer]
"""Told how many turns will be ingested and how many queries searched."""


@dataclass(frozen=True, slots=True)
class ShardOutcome:
    """One shard of one arm, measured and written."""

    path: Path
    shard: ShardReport


@dataclass(frozen=True, slots=True)
class _Taken:
    """One arm: its parts, and how they were had."""

    head: Head
    parts: list[Part]
    timed: Timed
    seconds: Seconds
    embedding: Embedding | None
    executor: str
    resumed: int


def run_retrieval(
    request: Request,
    *,
    root: Path,
    report_dir: Path,
    command: list[str],
    observer_for: Observing,
    templates: Path | None = None,
    source: Source | None = None,
) -> list[Outcome]:
    """Measures every arm of ``request`` and writes its files to ``report_dir``.

    ``root`` is the cache folder; ``command`` is kept in provenance; ``templates`` is a folder of the caller's own;
    ``source`` is kept in provenance too. Raises MembenchError for whatever goes wrong; then no file is written that was
    not measured to its end.
    """
    started = _now()

    def written(taken: _Taken) -> Outcome:
        def provenance_of(measurement: str, rankings: str) -> Provenance:
            return Provenance(
                schema=SCHEMA,
                measurement_sha256=measurement,
                rankings_sha256=rankings,
                command=command,
                source=source,
                started=started,
                executor=taken.executor,
                resumed=taken.resumed,
                shards=None,
                seconds=taken.seconds,
                embedding=taken.embedding,
                writes=calls_of(taken.timed.writes),
                searches=calls_of(taken.timed.searches),
                peak_memory_mb=peak_memory_mb(),
                host=host(),
                versions=versions(),
            )

        return write_outcome(taken.head, taken.parts, provenance_of, report_dir, templates)

    return _run(request, root, report_dir, observer_for, written)


def run_shard(
    request: Request, shard: Shard, *, root: Path, report_dir: Path, observer_for: Observing
) -> list[ShardOutcome]:
    """Measures one shard of every arm of ``request`` and writes it to ``report_dir``, to be merged with the others.

    The parameters and the errors are those of `run_retrieval`.
    """
    started = _now()

    def written(taken: _Taken) -> ShardOutcome:
        run = ShardRun(
            shard=f"{shard.number}/{shard.of}",
            started=started,
            seconds=taken.seconds,
            embedding=taken.embedding,
            resumed=taken.resumed,
            peak_memory_mb=peak_memory_mb(),
            host=host(),
        )
        report = shard_of(shard.number, shard.of, run, taken.head, taken.parts)
        path = report_dir / f"{shard_stem(taken.head, shard.number, shard.of)}.json"
        write_atomic(path, canonical_json(report))
        return ShardOutcome(path, report)

    if request.pool == "shared":
        raise UsageError(
            "--shard shares out instances, and a shared pool is one store for all of them.",
            "Leave out one of the two; --executor dask spreads the embedding of a shared pool.",
        )
    return _run(request, root, report_dir, observer_for, written, shard)


_Written = TypeVar("_Written")


def _run(
    request: Request,
    root: Path,
    report_dir: Path,
    observer_for: Observing,
    written: Callable[[_Taken], _Written],
    shard: Shard | None = None,
) -> list[_Written]:
    """Measures, and gives what ``written`` makes of each arm."""
    begun = perf_counter()
    refuse_unused(request)
    ensure_writable(report_dir)
    with ExitStack() as stack:
        executor = stack.enter_context(opened_executor(request))
        corpus = open_corpus(request.corpus, root, request.reading, request.file_format)
        mine = None if shard is None else _instances_of(corpus, shard)
        bench = stack.enter_context(opened_workbench(request, root, executor.spread))
        identity = None if bench.embedder is None else bench.embedder.identity
        heads = [head_of(corpus, arm, bench.memory, identity, request.embedder) for arm in bench.arms]
        refuse_unfit(corpus, bench.arms, [bench.memory] * len(bench.arms))
        resume = request.memory in SETTINGS if request.resume is None else request.resume
        forget_old(root)
        journals = [Journal(root, head, shard, request.memory, resume) for head in heads]
        for journal in journals:
            stack.callback(journal.close)
        resumed = [len(journal.parts) for journal in journals]
        left = sum(_share_left(corpus, mine, journal) for journal in journals)
        observer = Clocked(observer_for(round(corpus.survey.turns * left), round(corpus.survey.scorable * left)))
        timed = [Timed() for _ in heads]
        benches = [
            Bench(arm, bench.memory, bench.embedder, observer, number, timed[number])
            for number, arm in enumerate(bench.arms)
        ]

        def wants(instance: str, number: int) -> bool:
            return (mine is None or instance in mine) and instance not in journals[number].parts

        for number, part in executor.parts(corpus, benches, wants, observer):
            journals[number].parts[part.instance] = part
            journals[number].add(part)
        run_seconds = round(perf_counter() - begun, 3)
        outcomes = [
            written(
                _Taken(
                    head=head,
                    parts=sorted(journals[number].parts.values(), key=lambda part: part.place),
                    timed=timed[number],
                    seconds=Seconds(
                        run=run_seconds,
                        ingest=round(observer.seconds.get(("ingest", number), 0.0), 3),
                        search=round(observer.seconds.get(("search", number), 0.0), 3),
                    ),
                    embedding=_embedding(executor, bench),
                    executor=str(executor),
                    resumed=resumed[number],
                )
            )
            for number, head in enumerate(heads)
        ]
        for journal in journals:
            journal.discard()
        return outcomes


def _instances_of(corpus: Corpus, shard: Shard) -> set[str]:
    return {name for name, number in assign(corpus.survey.weights, shard.of).items() if number == shard.number}


def _share_left(corpus: Corpus, mine: set[str] | None, journal: Journal) -> float:
    """About how much of the corpus is still to be measured for one arm."""
    weights = corpus.survey.weights
    wanted = (mine or weights.keys()) - journal.parts.keys()
    return sum(weights[name] for name in wanted) / max(sum(weights.values()), 1)


def _embedding(executor: Executor, bench: Workbench) -> Embedding | None:
    if bench.embedder is None:
        return None
    tally = bench.embedder.tally
    return Embedding(workers=executor.threads, cached=tally.cached, computed=tally.computed)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
