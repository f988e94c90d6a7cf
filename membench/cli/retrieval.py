"""`membench retrieval`."""

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from membench.cli.summary import echo_outcomes, echo_shards
from membench.cli.wait import Wait
from membench.corpora.catalog import Format
from membench.corpora.corpus import Reading
from membench.corpora.dates import iso_date
from membench.corpora.locomo import Gold
from membench.corpora.selection import Roles, Slice
from membench.corpora.shards import parse_shard
from membench.embedding.catalog import DEFAULT_MODEL, Pooling
from membench.embedding.choice import FULL, EmbedderChoice, input_window_of
from membench.errors import UsageError
from membench.files.paths import cache_root
from membench.memories.options import named_options
from membench.ruler.arm import CHUNK_SIZE, CUT_OFFS, LIMIT, Pool
from membench.ruler.fragments import Granularity
from membench.ruler.timeline import TIMELINES, Timeline
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval, run_shard
from membench.terminal.locking import locked
from membench.terminal.progress import measuring
from membench.terminal.tables import print_outcomes, print_shards


def retrieval_command(
    corpus: Annotated[str, typer.Argument(help="A corpus of `membench list`, or with --format a file of your own.")],
    file_format: Annotated[Format | None, typer.Option("--format", help="How a file of your own is written.")] = None,
    timeline: Annotated[
        list[str], typer.Option(help=f"When things were said, one of {', '.join(TIMELINES)}; again for another arm.")
    ] = ["now"],  # noqa: B006
    as_of: Annotated[
        str | None, typer.Option(help="The date of the literal timeline: 2024-01-31 or with T18:30.")
    ] = None,
    granularity: Annotated[Granularity, typer.Option(help="What is written once.")] = "turn",
    chunk_size: Annotated[int, typer.Option(min=1, help="Characters of a chunk.")] = CHUNK_SIZE,
    pool: Annotated[
        Pool, typer.Option(help="What a query searches: its own instance, or every session of the corpus.")
    ] = "own",
    roles: Annotated[Roles, typer.Option(help="Whose turns are written.")] = "all",
    captions: Annotated[bool | None, typer.Option(help="Add what shared images show. Default: on for LoCoMo.")] = None,
    speakers: Annotated[bool | None, typer.Option(help="Name the speaker. Default: on for LoCoMo.")] = None,
    gold: Annotated[Gold, typer.Option(help="How LoCoMo's evidence references are read.")] = "verbatim",
    instances: Annotated[int | None, typer.Option(min=1, help="Only the first so many instances.")] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="Only the first so many queries in all.")] = None,
    memory: Annotated[str, typer.Option(help="A memory of `membench list`, or your own.")] = "episodic",
    memory_option: Annotated[list[str], typer.Option(metavar="NAME=VALUE", help="Set an option of the memory.")] = [],  # noqa: B006
    memory_python: Annotated[
        Path | None, typer.Option(help="The interpreter that runs a Python memory, with dependencies of its own.")
    ] = None,
    memory_timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that a call to the memory may take.")] = 60.0,
    allow_persistent: Annotated[
        bool, typer.Option("--allow-persistent", help="Write to a memory that does not say it is ephemeral.")
    ] = False,
    model: Annotated[str, typer.Option(help="A model of `membench list`, or the path of a GGUF.")] = DEFAULT_MODEL,
    pooling: Annotated[Pooling | None, typer.Option(help="Instead of the model's own.")] = None,
    document_prompt: Annotated[str | None, typer.Option(help="Goes before what is written.")] = None,
    query_prompt: Annotated[str | None, typer.Option(help="Goes before what is asked.")] = None,
    input_window: Annotated[
        str, typer.Option(metavar="N|full", help="Tokens of a text that the model sees; full: as many as it takes.")
    ] = FULL,
    toy_embedder: Annotated[bool, typer.Option("--toy-embedder", help="Hash words instead: never a result.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Texts embedded at a time. Default: the cores.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Hits that a search asks for.")] = LIMIT,
    cut_off: Annotated[list[int], typer.Option(min=1, help="A k to score at; again for another.")] = list(CUT_OFFS),  # noqa: B006
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Measure one of N parts of the instances, for `membench merge`.")
    ] = None,
    resume: Annotated[
        bool | None,
        typer.Option("--resume/--no-resume", help="Go on where a killed run was. Default: unless the memory is yours."),
    ] = None,
    executor: Annotated[Literal["local", "dask"], typer.Option(help="Where it is measured.")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="The address of the Dask scheduler: tcp://host:8786.")] = None,
    report_dir: Annotated[Path, typer.Option(help="Where the reports go.")] = Path("reports"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    wait: Wait = 600.0,
) -> None:
    """Measure whether a memory brings back the evidence.

    Example: membench retrieval locomo10 --timeline now --timeline anchored

    Example: membench retrieval locomo10 --memory-option decay_rate=0

    Example: membench retrieval chats.jsonl --format longmemeval --granularity session --memory bm25

    Example: membench retrieval longmemeval_s --shard 1/4
    """
    root = cache_root()
    request = Request(
        corpus=corpus,
        file_format=file_format,
        reading=Reading(gold, roles, captions, speakers, Slice(instances, queries)),
        timelines=tuple(_timeline(name) for name in timeline),
        as_of=_date(as_of),
        granularity=granularity,
        chunk_size=chunk_size,
        pool=pool,
        limit=limit,
        cut_offs=tuple(sorted(set(cut_off))),
        memory=memory,
        memory_options=named_options(memory_option),
        embedder=EmbedderChoice(model, pooling, document_prompt, query_prompt, input_window_of(input_window)),
        toy=toy_embedder,
        workers=workers or os.cpu_count() or 1,
        memory_python=memory_python,
        memory_timeout=memory_timeout,
        allow_persistent=allow_persistent,
        resume=resume,
        scheduler=_scheduler(executor, scheduler),
    )
    part = None if shard is None else parse_shard(shard)
    with locked(root, f"membench retrieval {corpus}", wait), measuring() as observer_for:
        if part is not None:
            shards = run_shard(request, part, root=root, report_dir=report_dir, observer_for=observer_for)
        else:
            outcomes = run_retrieval(
                request,
                root=root,
                report_dir=report_dir,
                command=["membench", *sys.argv[1:]],
                observer_for=observer_for,
            )
    if part is not None:
        echo_shards(shards) if as_json else print_shards(shards)
    else:
        echo_outcomes(outcomes) if as_json else print_outcomes(outcomes)


def _scheduler(executor: Literal["local", "dask"], address: str | None) -> str | None:
    if executor == "dask" and address is None:
        raise UsageError(
            "--executor dask needs the address of a scheduler.", "Add --scheduler, such as --scheduler tcp://host:8786."
        )
    if executor == "local" and address is not None:
        raise UsageError(f"--scheduler {address}: nothing is sent to it.", "Add --executor dask.")
    return address


def _timeline(name: str) -> Timeline:
    for known in TIMELINES:
        if name == known:
            return known
    raise UsageError(f"--timeline {name}: expected one of {', '.join(TIMELINES)}.")


def _date(text: str | None) -> datetime | None:
    moment = iso_date(text)
    if text is not None and moment is None:
        raise UsageError(f"--as-of {text}: expected a date such as 2024-01-31 or 2024-01-31T18:30.")
    return moment
