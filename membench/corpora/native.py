"""membench's own corpus format, for the embedded sample and for corpora of a user's own: `membench.corpus/1`.

One JSON object with ``instances``, each with ``sessions`` of ``turns`` and ``queries`` that name their gold by id.
"""

from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from membench.corpora.dates import iso_date
from membench.corpora.reading import json_member
from membench.corpora.types import Category, Instance, Query, Role, Session, Turn
from membench.corpora.validation import Name, Raw, checked, malformed
from membench.errors import CorpusError

SCHEMA = "membench.corpus/1"


class _Strict(Raw):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Turn(_Strict):
    id: Name
    role: Role
    speaker: str
    text: str
    caption: str | None = None


class _Session(_Strict):
    id: Name
    date: str | None = None
    turns: list[_Turn]


class _Category(_Strict):
    name: Name
    number: int | str


class _Query(_Strict):
    id: Name
    text: str
    category: _Category
    gold_sessions: list[str]
    gold_turns: list[str]
    answer: str | None = None
    asked: str | None = None
    unanswerable: bool = False


class _Instance(_Strict):
    id: Name
    sessions: list[_Session]
    queries: list[_Query]


def check_schema(path: Path) -> None:
    """Raises CorpusError unless the file says that it is of this version."""
    found = json_member(path, "schema")
    if found != SCHEMA:
        raise CorpusError(
            f'{path}: expected "schema": "{SCHEMA}", found {found!r}',
            "Mend the file, give its own --format, or use the membench that reads its version.",
        )


def read_instance(value: Any, path: Path, position: int) -> Instance:
    """One instance. Raises CorpusError that names the instance and the field; ids must be unique within it."""
    raw = checked(_Instance, value, path, position, "id")
    sessions = tuple(
        Session(session.id, iso_date(session.date), tuple(Turn(**dict(turn)) for turn in session.turns))
        for session in raw.sessions
    )
    session_ids = [session.id for session in sessions]
    turn_ids = [turn.id for session in sessions for turn in session.turns]
    for field, ids in (
        ("sessions", session_ids),
        ("turns", turn_ids),
        ("queries", [query.id for query in raw.queries]),
    ):
        if len(set(ids)) < len(ids):
            twice = next(name for index, name in enumerate(ids) if name in ids[:index])
            raise malformed(path, position, raw.id, field, f"expected unique ids, found {twice!r} twice")
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    for index, query in enumerate(raw.queries):
        for turn in query.gold_turns:
            if turn in home and home[turn] not in query.gold_sessions:
                problem = f"turn {turn!r} stands in session {home[turn]!r}, which gold_sessions does not name"
                raise malformed(path, position, raw.id, f"queries[{index}].gold_turns", problem)
    queries = tuple(_query(query, session_ids, turn_ids) for query in raw.queries)
    return Instance(raw.id, sessions, queries)


def _query(raw: _Query, session_ids: list[str], turn_ids: list[str]) -> Query:
    dangling = [name for name in raw.gold_sessions if name not in session_ids]
    dangling += [name for name in raw.gold_turns if name not in turn_ids]
    return Query(
        id=raw.id,
        text=raw.text,
        category=Category(raw.category.name, raw.category.number),
        gold_sessions=tuple(name for name in session_ids if name in raw.gold_sessions),
        gold_turns=tuple(name for name in turn_ids if name in raw.gold_turns),
        unanswerable=raw.unanswerable,
        asked=iso_date(raw.asked),
        dangling=tuple(dangling),
    )
