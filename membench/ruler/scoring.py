"""From a ranked list of fragments to the ranks of a query's gold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from membench.corpora.types import Category, Query
from membench.ruler.ledger import Written


@dataclass(frozen=True, slots=True)
class Wanted:
    """A scored query as its pool knows it.

    ``sessions`` and ``turns`` are its gold, by the names of the pool: the query's own names for each, which for a turn
    are its session and itself. What is one to the pool is one here, under the first of its own names.
    ``as_of`` is the time that a search is told.
    """

    query: Query
    instance: str
    as_of: datetime | None
    sessions: Mapping[str, str]
    turns: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Scored:
    """One scored query: its gold and the 1-based rank of each, None where it did not come back.

    ``turn_ranks`` and ``turn_observed`` are None where the granularity has no turn level. ``hits`` is the ranked list
    as (session, turns, score).
    """

    id: str
    category: Category
    gold_sessions: tuple[str, ...]
    session_ranks: tuple[int | None, ...]
    session_observed: int
    gold_turns: tuple[str, ...]
    turn_ranks: tuple[int | None, ...] | None
    turn_observed: int | None
    hits: tuple[tuple[str, tuple[str, ...], float], ...]


def scored(wanted: Wanted, ranked: Sequence[tuple[Written, float]], with_turns: bool) -> Scored:
    """Sessions and turns rank by their best fragment; one that holds several turns gives them in their order."""
    sessions = list(dict.fromkeys(one.session for one, _ in ranked))
    turns = list(dict.fromkeys(turn for one, _ in ranked for turn in one.turns)) if with_turns else None
    return Scored(
        id=wanted.query.id,
        category=wanted.query.category,
        gold_sessions=tuple(wanted.sessions.values()),
        session_ranks=tuple(_ranks(wanted.sessions, sessions)),
        session_observed=len(sessions),
        gold_turns=tuple(turn for _, turn in wanted.turns.values()),
        turn_ranks=None if turns is None else tuple(_ranks(wanted.turns, turns)),
        turn_observed=None if turns is None else len(turns),
        hits=tuple((one.session, one.turns, score) for one, score in ranked),
    )


def _ranks(gold: Iterable[str], ranked: Sequence[str]) -> Iterator[int | None]:
    places = {name: place for place, name in enumerate(ranked, start=1)}
    return (places.get(name) for name in gold)
