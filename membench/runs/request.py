"""What a retrieval run is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from membench.corpora.catalog import Format
from membench.corpora.corpus import Reading
from membench.embedding.choice import EmbedderChoice
from membench.errors import UsageError
from membench.memories.catalog import SETTINGS, settings_of
from membench.memories.spec import wants_embedder
from membench.ruler.arm import CHUNK_SIZE, CUT_OFFS, LIMIT, Pool
from membench.ruler.fragments import Granularity
from membench.ruler.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a retrieval run is asked for; one arm a timeline. ``toy`` takes the place of a model.

    ``memory`` is a name or a specification (`membench.memories.spec`); ``memory_python`` the interpreter that runs a
    Python memory instead of this one; ``memory_timeout`` bounds each of its calls, in seconds. ``resume`` None goes on
    with what a killed run has finished where the memory ships with membench: of another nobody here knows whether it is
    what it was. ``scheduler`` is the address of the Dask cluster that measures, None for this process.
    """

    corpus: str
    file_format: Format | None = None
    reading: Reading = field(default_factory=Reading)
    timelines: tuple[Timeline, ...] = ("now",)
    as_of: datetime | None = None
    granularity: Granularity = "turn"
    chunk_size: int = CHUNK_SIZE
    pool: Pool = "own"
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
    resume: bool | None = None
    scheduler: str | None = None


def refuse_unused(request: Request) -> None:
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
