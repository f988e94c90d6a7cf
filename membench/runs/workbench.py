"""What a run measures with: the embedder, the memory built with it, and the arms."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from membench.embedding.cache import VectorCache, space_name
from membench.embedding.cached import CachedEmbedder
from membench.embedding.choice import load_embedder
from membench.embedding.embedder import Embedder
from membench.embedding.toy import ToyEmbedder
from membench.errors import UsageError
from membench.files.paths import vectors_dir
from membench.memories.protocol import Description
from membench.memories.spec import open_memory, wants_embedder
from membench.ruler import calls
from membench.ruler.arm import Arm
from membench.runs.request import Request


@dataclass(frozen=True, slots=True)
class Workbench:
    """``embedder`` is None for a memory that uses none of the run's."""

    embedder: CachedEmbedder | None
    memory: Description
    arms: list[Arm]


@contextmanager
def opened_workbench(
    request: Request, root: Path, spread: Callable[[Embedder], Embedder] = lambda model: model
) -> Iterator[Workbench]:
    """The workbench of ``request``; ``root`` is the cache folder. ``spread`` may put another in the model's place.

    Raises UsageError and InstrumentError for what cannot be opened.
    """
    with _embedder(request, root, spread) as embedder:
        python, timeout = request.memory_python, request.memory_timeout
        with open_memory(request.memory, request.memory_options, embedder, python=python, timeout=timeout) as memory:
            found = calls.describe(memory)
            if not found.ephemeral and not request.allow_persistent:
                raise UsageError(
                    f"The memory {found.name} does not say that it is ephemeral: what is written may stay in it, and "
                    "what it holds already may come back.",
                    "Let describe() say ephemeral where it is so, or allow it with --allow-persistent.",
                )
            arms = [
                Arm(
                    memory=memory,
                    memory_options=request.memory_options,
                    timeline=timeline,
                    as_of=request.as_of,
                    granularity=request.granularity,
                    chunk_size=request.chunk_size,
                    pool=request.pool,
                    limit=request.limit,
                    cut_offs=request.cut_offs,
                )
                for timeline in dict.fromkeys(request.timelines)
            ]
            yield Workbench(embedder, found, arms)


@contextmanager
def _embedder(request: Request, root: Path, spread: Callable[[Embedder], Embedder]) -> Iterator[CachedEmbedder | None]:
    """What the memory embeds with: nothing, the toy without a cache on disk, or the model with one."""
    if not wants_embedder(request.memory, request.memory_python, request.memory_timeout):
        yield None
    elif request.toy:
        yield CachedEmbedder(ToyEmbedder(), None)
    else:
        with load_embedder(request.embedder, root, request.workers) as model:
            path = vectors_dir(root) / f"{space_name(model.identity)}.sqlite"
            with VectorCache(path, model.identity.dimension) as cache:
                yield CachedEmbedder(spread(model), cache)
