"""One pass over a corpus before anything is measured: its counts, its quirks, and its fingerprint."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from membench.corpora.rendering import TextOptions, turn_text
from membench.corpora.types import Instance, Query, Session

_BYTES_A_TOKEN = 4

_Texts = Sequence[Sequence[str]]
"""The texts of the turns of one instance, by session."""


@dataclass(slots=True)
class Quirks:
    """What is odd in a corpus and is read all the same. Each is a count of what its name says.

    ``repeated_session_ids``: sessions under an id that stands earlier in their instance. ``unsorted_instances``: those
    whose sessions are not in the order of their dates. ``evidence_after_question``: queries with a gold session dated
    after their asking. ``gold_sessions_without_gold_turn`` counts (query, session) pairs of answerable queries. The
    queries of ``instances_without_sessions`` are without gold.
    """

    instances_without_sessions: int = 0
    blank_turns: int = 0
    undated_sessions: int = 0
    unsorted_instances: int = 0
    repeated_session_ids: int = 0
    dangling_references: int = 0
    evidence_after_question: int = 0
    gold_sessions_without_gold_turn: int = 0


@dataclass(frozen=True, slots=True)
class Survey:
    """``fingerprint`` is a SHA-256 over everything in the corpus that can move a score, and over nothing else.

    Queries are ``scorable``, ``unanswerable`` or ``without_gold``. ``has_distractors``: some scorable query has a
    session in its instance that is not gold. ``newest`` is the latest date of a session that has turns, in
    any instance. ``weights`` has an estimate of the tokens in the turns of each instance, by instance id: no model
    reads a corpus.
    """

    fingerprint: str
    instances: int
    sessions: int
    turns: int
    queries: int
    scorable: int
    unanswerable: int
    without_gold: int
    has_distractors: bool
    quirks: Quirks
    newest: datetime | None
    weights: Mapping[str, int] = field(repr=False)


@dataclass(slots=True)
class _Counts:
    instances: int = 0
    sessions: int = 0
    turns: int = 0
    queries: int = 0
    scorable: int = 0
    unanswerable: int = 0
    has_distractors: bool = False
    quirks: Quirks = field(default_factory=Quirks)
    newest: datetime | None = None
    weights: dict[str, int] = field(default_factory=dict)


def survey(instances: Iterable[Instance], options: TextOptions) -> Survey:
    """Reads all of ``instances``, one at a time."""
    digest = hashlib.sha256(b"membench.fingerprint/1")
    counts = _Counts()
    for instance in instances:
        texts = [[turn_text(turn, options) for turn in session.turns] for session in instance.sessions]
        digest.update(orjson.dumps(_content(instance, texts)))
        _count(instance, texts, counts)
    return Survey(
        fingerprint=digest.hexdigest(),
        instances=counts.instances,
        sessions=counts.sessions,
        turns=counts.turns,
        queries=counts.queries,
        scorable=counts.scorable,
        unanswerable=counts.unanswerable,
        without_gold=counts.queries - counts.scorable - counts.unanswerable,
        has_distractors=counts.has_distractors,
        quirks=counts.quirks,
        newest=counts.newest,
        weights=counts.weights,
    )


def _content(instance: Instance, texts: _Texts) -> list[object]:
    """Names stand for nothing here: gold is given by place, so that renaming a session moves no fingerprint."""
    session_places = {session.id: place for place, session in enumerate(instance.sessions)}
    turns = (turn.id for session in instance.sessions for turn in session.turns)
    turn_places = {turn: place for place, turn in enumerate(turns)}
    return [
        [
            [_iso(session.date), [[turn.role, text] for turn, text in zip(session.turns, said, strict=True)]]
            for session, said in zip(instance.sessions, texts, strict=True)
        ],
        [
            [
                query.text,
                [query.category.name, query.category.number],
                [session_places[name] for name in query.gold_sessions],
                [turn_places[name] for name in query.gold_turns],
                query.unanswerable,
                _iso(query.asked),
            ]
            for query in instance.queries
        ],
    ]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _count(instance: Instance, texts: _Texts, counts: _Counts) -> None:
    counts.instances += 1
    counts.sessions += len(instance.sessions)
    counts.turns += sum(len(said) for said in texts)
    counts.queries += len(instance.queries)
    counts.weights[instance.id] = _estimated_tokens(texts)
    quirks = counts.quirks
    quirks.instances_without_sessions += not instance.sessions
    quirks.blank_turns += sum(not text.strip() for said in texts for text in said)
    quirks.repeated_session_ids += sum(session.repeated for session in instance.sessions)
    _count_dates(instance.sessions, counts)
    _count_gold(instance, counts)


def _estimated_tokens(texts: _Texts) -> int:
    return -(-sum(len(text.encode()) for said in texts for text in said) // _BYTES_A_TOKEN)


def _count_dates(sessions: Sequence[Session], counts: _Counts) -> None:
    dates = [session.date for session in sessions if session.date is not None]
    counts.quirks.undated_sessions += len(sessions) - len(dates)
    counts.quirks.unsorted_instances += dates != sorted(dates)
    spoken = [session.date for session in sessions if session.date is not None and session.turns]
    if spoken:
        counts.newest = max(spoken) if counts.newest is None else max(counts.newest, *spoken)


def _count_gold(instance: Instance, counts: _Counts) -> None:
    quirks = counts.quirks
    by_id = {session.id: session for session in instance.sessions}
    for query in instance.queries:
        counts.unanswerable += query.unanswerable
        counts.scorable += query.scorable
        quirks.dangling_references += len(query.dangling)
        gold = [by_id[name] for name in query.gold_sessions]
        quirks.evidence_after_question += _is_after(gold, query)
        if query.scorable:
            counts.has_distractors |= len(gold) < len(instance.sessions)
            found = set(query.gold_turns)
            quirks.gold_sessions_without_gold_turn += sum(
                not any(turn.id in found for turn in session.turns) for session in gold
            )


def _is_after(gold: Iterable[Session], query: Query) -> bool:
    asked = query.asked
    return asked is not None and any(session.date is not None and session.date > asked for session in gold)
