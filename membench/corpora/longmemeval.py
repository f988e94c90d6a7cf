"""LongMemEval (Wu et al., 2024, arXiv 2410.10813): one question over a haystack of chat sessions, an instance each."""

from itertools import count
from pathlib import Path
from typing import Any, Literal

from membench.corpora.dates import longmemeval_date
from membench.corpora.types import Category, Instance, Query, Session, Turn
from membench.corpora.validation import Name, Raw, checked, malformed


class _Turn(Raw):
    role: Literal["user", "assistant"]
    content: str
    has_answer: bool | None = None


class _Question(Raw):
    question_id: Name
    question_type: Name
    question: str
    question_date: str
    answer: str | int | float | None = None
    answer_session_ids: list[str]
    haystack_dates: list[str]
    haystack_session_ids: list[Name]
    haystack_sessions: list[list[_Turn]]


def read_instance(value: Any, path: Path, position: int) -> Instance:
    """One haystack with its one question. Raises CorpusError that names the instance and the field.

    The second session under one id is kept apart as ``<id>#2``; gold that names a repeated id means the first.
    """
    raw = checked(_Question, value, path, position, "question_id")
    lengths = {
        "haystack_session_ids": len(raw.haystack_session_ids),
        "haystack_dates": len(raw.haystack_dates),
        "haystack_sessions": len(raw.haystack_sessions),
    }
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        problem = f"expected as many sessions as ids and dates, found {shown}"
        raise malformed(path, position, raw.question_id, "haystack_sessions", problem)
    ids = _apart(raw.haystack_session_ids)
    sessions = tuple(
        _session(name, date, turns, repeated=name != written)
        for name, written, date, turns in zip(
            ids, raw.haystack_session_ids, raw.haystack_dates, raw.haystack_sessions, strict=True
        )
    )
    return Instance(raw.question_id, sessions, (_query(raw, ids),))


def _apart(ids: list[str]) -> list[str]:
    taken = set(ids)
    apart: dict[str, None] = {}
    for name in ids:
        own = name
        if name in apart:
            own = next(new for number in count(2) if (new := f"{name}#{number}") not in taken)
            taken.add(own)
        apart[own] = None
    return list(apart)


def _session(name: str, date: str, turns: list[_Turn], repeated: bool) -> Session:
    read = tuple(
        Turn(_turn_id(name, index), turn.role, turn.role, turn.content) for index, turn in enumerate(turns, start=1)
    )
    return Session(name, longmemeval_date(date), read, repeated)


def _turn_id(session: str, index: int) -> str:
    return f"{session}:{index}"


def _query(raw: _Question, ids: list[str]) -> Query:
    gold = tuple(name for name in ids if name in set(raw.answer_session_ids))
    turns = tuple(
        _turn_id(name, index)
        for name, session in zip(ids, raw.haystack_sessions, strict=True)
        if name in gold
        for index, turn in enumerate(session, start=1)
        if turn.has_answer
    )
    return Query(
        id=raw.question_id,
        text=raw.question,
        category=Category(raw.question_type, raw.question_type),
        gold_sessions=gold,
        gold_turns=turns,
        unanswerable="_abs" in raw.question_id,
        asked=longmemeval_date(raw.question_date),
        dangling=tuple(name for name in raw.answer_session_ids if name not in ids),
    )
