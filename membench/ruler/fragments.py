"""What is written once: a turn, a chunk or a session, under opaque ids, and what of the corpus it covers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Literal

from membench.corpora.rendering import TextOptions, transcript, turn_text
from membench.corpora.types import Instance, Session, Turn
from membench.memories.protocol import Unit
from membench.ruler.timeline import Timeline, newest_of, said_at

Granularity = Literal["turn", "chunk", "session"]
# A pool's name, then the number of the unit in it.
_UNIT_ID = re.compile(r"p[0-9]+u[0-9]+")

GRANULARITIES: tuple[Granularity, ...] = ("turn", "chunk", "session")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A unit as the memory sees it, with the session and the turns that it holds, which the memory never sees."""

    unit: Unit
    session: str
    turns: tuple[str, ...]


class Fragmenter:
    """Makes the fragments of one pool, in the order in which sessions are given to it. Blank turns have none.

    Unit and session ids number what is written to ``pool``, in that order, and so tell nothing that the order does not.
    No two pools share one: a hit from another pool is told from any other that is not this pool's.
    """

    def __init__(self, granularity: Granularity, chunk_size: int, text: TextOptions, pool: str) -> None:
        self._granularity = granularity
        self._chunk_size = chunk_size
        self._text = text
        self._pool = pool
        self._units = count(1)
        self._sessions = count(1)

    def fragments(self, session: Session, time: datetime | None) -> Iterator[Fragment]:
        """Those of the next session, which was said at ``time``."""
        opaque = f"{self._pool}s{next(self._sessions)}"
        for body, turns in _bodies(session, self._granularity, self._chunk_size, self._text):
            yield Fragment(Unit(f"{self._pool}u{next(self._units)}", opaque, body, time), session.id, turns)


def fragments(
    instance: Instance, granularity: Granularity, chunk_size: int, text: TextOptions, timeline: Timeline, pool: str
) -> list[Fragment]:
    """The fragments of ``instance``, a pool of its own, in the order of the corpus."""
    fragmenter = Fragmenter(granularity, chunk_size, text, pool)
    newest = newest_of(instance)
    return [
        fragment
        for session in instance.sessions
        for fragment in fragmenter.fragments(session, said_at(timeline, session, newest))
    ]


def is_of_another(unit: str, pool: str) -> bool:
    """Whether ``unit`` is the id of a unit of another pool than ``pool``."""
    return _UNIT_ID.fullmatch(unit) is not None and not unit.startswith(f"{pool}u")


def _bodies(
    session: Session, granularity: Granularity, chunk_size: int, text: TextOptions
) -> Iterator[tuple[str, tuple[str, ...]]]:
    spoken = [turn for turn in session.turns if turn_text(turn, text).strip()]
    if granularity == "turn":
        yield from ((turn_text(turn, text), (turn.id,)) for turn in spoken)
    elif granularity == "session":
        if spoken:
            yield transcript(spoken, text), tuple(turn.id for turn in spoken)
    else:
        yield from _chunks(spoken, chunk_size, text)


def _chunks(turns: list[Turn], size: int, text: TextOptions) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Consecutive whole turns, a line each, as many as fit in ``size`` characters; a longer turn is cut into pieces of
    its own, at blanks where it has them.
    """
    lines: list[str] = []
    ids: list[str] = []
    for turn in turns:
        line = turn_text(turn, text).strip()
        if lines and len("\n".join([*lines, line])) > size:
            yield "\n".join(lines), tuple(ids)
            lines, ids = [], []
        if len(line) > size:
            yield from ((piece, (turn.id,)) for piece in _pieces(line, size))
        else:
            lines.append(line)
            ids.append(turn.id)
    if lines:
        yield "\n".join(lines), tuple(ids)


def _pieces(line: str, size: int) -> Iterator[str]:
    while len(line) > size:
        blank = line.rfind(" ", 1, size + 1)
        cut = blank if blank > 0 else size
        if piece := line[:cut].strip():
            yield piece
        line = line[cut:].strip()
    if line:
        yield line
