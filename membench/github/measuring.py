"""The measurements that a run of the action makes: whole ones, or one shard of each."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from membench.corpora.catalog import CORPORA
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.corpora.shards import Shard
from membench.corpora.store import fetch_corpus, verified_corpus
from membench.embedding.catalog import MODELS
from membench.embedding.choice import EmbedderChoice
from membench.embedding.store import fetch_model, model_path, verified_model
from membench.errors import CorpusError, ModelError
from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.github.origin import command_of, source_of
from membench.memories.spec import is_python, wants_embedder
from membench.reports.measurement import Measurement
from membench.runs.request import Request
from membench.runs.retrieval import Observing, ShardOutcome, run_retrieval, run_shard
from membench.terminal.locking import locked
from membench.terminal.progress import measuring, transfer
from membench.terminal.tables import print_outcomes

log = logging.getLogger(__name__)

BUNDLED = "MEMBENCH_BUNDLED"
"""Names the folder that the image carries models in."""

_WAIT = 600.0


def measured(
    inputs: Inputs, context: Context, root: Path, report_dir: Path, templates: Path | None
) -> list[Measurement]:
    """Fetches what is missing from the cache folder ``root``, measures every arm, writes its files and prints them."""
    with _ready(inputs, root) as observer_for:
        outcomes = run_retrieval(
            _request(inputs),
            root=root,
            report_dir=report_dir,
            command=command_of(inputs),
            observer_for=observer_for,
            templates=templates,
            source=source_of(context),
        )
    print_outcomes(outcomes)
    return [outcome.measurement for outcome in outcomes]


def measured_shard(inputs: Inputs, shard: Shard, root: Path, report_dir: Path) -> list[ShardOutcome]:
    """Fetches what is missing from the cache folder ``root``, measures ``shard`` of every arm and writes its file."""
    with _ready(inputs, root) as observer_for:
        return run_shard(_request(inputs), shard, root=root, report_dir=report_dir, observer_for=observer_for)


def fetch(inputs: Inputs, root: Path) -> None:
    """Makes sure that corpus and model are in the cache folder and intact; a damaged file is fetched again."""
    if inputs.format is None and inputs.corpus in CORPORA:
        corpus = CORPORA[inputs.corpus]
        if not _intact(lambda: verified_corpus(corpus, root)):
            with transfer(corpus.key) as progress:
                fetch_corpus(corpus, root, progress=progress)
    if inputs.model in MODELS and wants_embedder(inputs.memory, _interpreter(inputs)):
        model = MODELS[inputs.model]
        bundled = os.environ.get(BUNDLED)
        copy = model_path(model, Path(bundled)) if bundled else None
        if not _intact(lambda: verified_model(model, root)):
            with transfer(model.key) as progress:
                fetch_model(model, root, source=copy if copy and copy.is_file() else None, progress=progress)


@contextmanager
def _ready(inputs: Inputs, root: Path) -> Iterator[Observing]:
    """Holds the cache folder, with everything in it that the run needs."""
    with locked(root, "the action", _WAIT):
        fetch(inputs, root)
        with measuring() as observer_for:
            yield observer_for


def _intact(verified: Callable[[], Path]) -> bool:
    """Whether it can be used as it is; where not, the log says why."""
    try:
        verified()
    except (CorpusError, ModelError) as error:
        log.warning("%s", error.what)
        return False
    return True


def _interpreter(inputs: Inputs) -> Path | None:
    """Of a Python memory: never membench's own, whose libraries the caller's would replace."""
    return Path(inputs.memory_python) if is_python(inputs.memory) else None


def _request(inputs: Inputs) -> Request:
    return Request(
        corpus=inputs.corpus,
        file_format=inputs.format,
        reading=Reading(gold=inputs.gold, part=Slice(inputs.instances, inputs.queries)),
        timelines=inputs.timelines,
        granularity=inputs.granularity,
        pool=inputs.pool,
        memory=inputs.memory,
        memory_options=inputs.memory_options,
        embedder=EmbedderChoice(inputs.model, input_window=inputs.input_window),
        workers=inputs.workers or os.cpu_count() or 1,
        memory_python=_interpreter(inputs),
    )
