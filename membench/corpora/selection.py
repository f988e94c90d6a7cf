"""Which part of a corpus a run uses: a head slice, and whose turns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from membench.corpora.types import Instance

Roles = Literal["all", "user"]


@dataclass(frozen=True, slots=True)
class Slice:
    """The first so many instances, and of these the first so many queries in all; None for no bound."""

    instances: int | None = None
    queries: int | None = None


WHOLE = Slice()


def head(instances: Iterable[Instance], part: Slice) -> Iterator[Instance]:
    """The instances of ``part``. One that has no query left is left out with its whole haystack."""
    left = part.queries
    for instance in islice(instances, part.instances):
        if left is None:
            yield instance
            continue
        kept = instance.queries[:left]
        left -= len(kept)
        if kept:
            yield replace(instance, queries=kept)
        if left == 0:
            return


def of_roles(instance: Instance, roles: Roles) -> Instance:
    """``instance`` with the turns of ``roles`` only; gold turns of other roles are no longer gold."""
    if roles == "all":
        return instance
    sessions = tuple(
        replace(session, turns=tuple(turn for turn in session.turns if turn.role == "user"))
        for session in instance.sessions
    )
    kept = {turn.id for session in sessions for turn in session.turns}
    queries = tuple(
        replace(query, gold_turns=tuple(turn for turn in query.gold_turns if turn in kept))
        for query in instance.queries
    )
    return replace(instance, sessions=sessions, queries=queries)
