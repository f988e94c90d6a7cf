"""The measurements of a run of the action: made here, or by earlier jobs."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from membench.corpora.catalog import CORPORA
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.corpora.store import fetch_corpus, verified_corpus
from membench.embedding.catalog import MODELS
from membench.embedding.choice import EmbedderChoice
from membench.embedding.store import fetch_model, model_path, verified_model
from membench.errors import CorpusError, ModelError, ReportError, UsageError
from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.memories.spec import is_python, wants_embedder
from membench.reports.loading import OtherSchema, read_measurement
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of
from membench.reports.provenance import Source
from membench.ruler.timeline import TIMELINES
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval
from membench.terminal.locking import locked
from membench.terminal.progress import measuring, transfer
from membench.terminal.tables import print_outcomes

log = logging.getLogger(__name__)

BUNDLED = "MEMBENCH_BUNDLED"
"""Names the folder that the image carries models in."""

_WAIT = 600.0
_NOT_MEASUREMENTS = (".provenance.json", ".comparison.json", "comparisons.json")


def measured(
    inputs: Inputs, context: Context, root: Path, report_dir: Path, templates: Path | None
) -> list[Measurement]:
    """Fetches what is missing from the cache folder ``root``, measures every arm, writes its files and prints them."""
    request = _request(inputs)
    with locked(root, "the action", _WAIT):
        fetch(inputs, root)
        with measuring() as observer_for:
            outcomes = run_retrieval(
                request,
                root=root,
                report_dir=report_dir,
                command=["membench", "action", *_as_given(inputs)],
                observer_for=observer_for,
                templates=templates,
                source=Source(repository=context.repository, commit=context.commit, run=context.run_url),
            )
    print_outcomes(outcomes)
    return [outcome.measurement for outcome in outcomes]


def read_measurements(folder: Path) -> list[Measurement]:
    """Those in ``folder`` and below, each once: by timeline in the order of the README, then by name.

    Raises UsageError where there is none, ReportError for a file that is none, is of another schema, or holds an arm
    that another file holds otherwise.
    """
    if not folder.is_dir():
        raise UsageError(f"The input measurements is {folder.name!r}: there is no such folder in the workspace.")
    found: dict[str, Measurement] = {}
    for path in sorted(folder.rglob("*.json")):
        if path.name.endswith(_NOT_MEASUREMENTS):
            continue
        one = read_measurement(path)
        if isinstance(one, OtherSchema):
            raise ReportError(f"{path} is of the {one.age} schema {one.schema}", one.remedy)
        if found.setdefault(stem_of(one), one) != one:
            raise ReportError(
                f"{path} and another file below {folder} are different measurements of {stem_of(one)}",
                "Give each job of the matrix an arm of its own, and begin with an empty folder.",
            )
    if not found:
        raise UsageError(
            f"The input measurements is {folder}: there is no measurement in it.",
            "Download what the measuring jobs have uploaded into it, with actions/download-artifact.",
        )
    return sorted(found.values(), key=lambda one: (TIMELINES.index(one.arm.timeline), stem_of(one)))


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


def _intact(verified: Callable[[], Path]) -> bool:
    """Whether it can be used as it is; where not, the log says why."""
    try:
        verified()
    except (CorpusError, ModelError) as error:
        log.warning("%s", error.what)
        return False
    return True


def _as_given(inputs: Inputs) -> list[str]:
    given = inputs.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"github_token"})
    return [f"{name}={value}" for name, value in given.items()]


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
        memory=inputs.memory,
        memory_options=inputs.memory_options,
        embedder=EmbedderChoice(inputs.model, input_window=inputs.input_window),
        workers=inputs.workers or os.cpu_count() or 1,
        memory_python=_interpreter(inputs),
    )
