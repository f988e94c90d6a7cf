"""One complete configuration of a measurement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from membench.memories.protocol import Memory
from membench.ruler.fragments import Granularity
from membench.ruler.timeline import Timeline

Pool = Literal["own", "shared"]
"""Which sessions a query searches: those of its own instance, or each distinct one of the corpus, written once."""

POOLS: tuple[Pool, ...] = ("own", "shared")
CUT_OFFS = (1, 3, 5, 8, 10, 20)
LIMIT = 20
CHUNK_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Arm:
    """``limit``: hits a search asks for. ``chunk_size``: characters. ``as_of``: the date of the literal timeline.

    ``memory_options`` are those that the memory was built with, as they were asked for.
    """

    memory: Memory
    timeline: Timeline = "now"
    as_of: datetime | None = None
    granularity: Granularity = "turn"
    chunk_size: int = CHUNK_SIZE
    pool: Pool = "own"
    limit: int = LIMIT
    cut_offs: tuple[int, ...] = CUT_OFFS
    memory_options: Mapping[str, str] = field(default_factory=dict)
