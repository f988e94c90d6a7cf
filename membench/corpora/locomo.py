"""LoCoMo (Maharana et al., 2024, arXiv 2402.17753): ten long conversations between two people, with questions.

Two readings of its gold exist. `verbatim` takes an evidence reference only where it names a turn exactly, which is the
published population. `repaired` also reads the references that were written loosely: several in one string, a stray
colon, a leading zero.
"""

import re
from pathlib import Path
from typing import Any, Literal

from membench.corpora.dates import locomo_date
from membench.corpora.types import Category, Instance, Query, Session, Turn
from membench.corpora.validation import Name, Raw, checked, malformed

Gold = Literal["verbatim", "repaired"]

CATEGORIES = {
    1: Category("multi-hop", 1),
    2: Category("temporal", 2),
    3: Category("open-domain", 3),
    4: Category("single-hop", 4),
    5: Category("adversarial", 5),
}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_([0-9]{1,9})")


class _Turn(Raw):
    speaker: str
    dia_id: Name
    text: str
    blip_caption: str | None = None


class _Question(Raw):
    question: str
    category: int
    evidence: list[str]
    answer: str | int | float | None = None


class _Sample(Raw):
    sample_id: Name
    conversation: dict[str, Any]
    qa: list[_Question]


class _Conversation(Raw):
    sessions: dict[str, list[_Turn]]
    dates: dict[str, str]


def read_instance(value: Any, path: Path, position: int, gold: Gold) -> Instance:
    """One conversation. Raises CorpusError that names the instance and the field."""
    sample = checked(_Sample, value, path, position, "sample_id")
    names = [key for key in sample.conversation if _SESSION.fullmatch(key)]
    names.sort(key=lambda name: int(name.removeprefix("session_")))
    raw = checked(
        _Conversation,
        {
            "sample_id": sample.sample_id,
            "sessions": {name: sample.conversation[name] for name in names},
            "dates": {key: date for key, date in sample.conversation.items() if key.endswith("_date_time")},
        },
        path,
        position,
        "sample_id",
    )
    sessions = tuple(_session(name, turns, raw.dates.get(f"{name}_date_time")) for name, turns in raw.sessions.items())
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    if len(home) < sum(len(session.turns) for session in sessions):
        raise malformed(path, position, sample.sample_id, "conversation", "a dia_id stands on two turns")
    for index, question in enumerate(sample.qa):
        if question.category not in CATEGORIES:
            raise malformed(path, position, sample.sample_id, f"qa[{index}].category", "expected a number from 1 to 5")
    queries = tuple(_query(sample.sample_id, index, raw, home, gold) for index, raw in enumerate(sample.qa))
    return Instance(sample.sample_id, sessions, queries)


def _session(name: str, turns: list[_Turn], date: str | None) -> Session:
    # Both speakers are people whose words are evidence, so both have the role of a user.
    read = tuple(Turn(turn.dia_id, "user", turn.speaker, turn.text, turn.blip_caption) for turn in turns)
    return Session(name, locomo_date(date), read)


def _query(sample: str, index: int, raw: _Question, home: dict[str, str], gold: Gold) -> Query:
    references = raw.evidence if gold == "verbatim" else [part for text in raw.evidence for part in _repaired(text)]
    wanted = set(references)
    turns = tuple(turn for turn in home if turn in wanted)
    return Query(
        id=f"{sample}:{index}",
        text=raw.question,
        category=CATEGORIES[raw.category],
        gold_sessions=tuple(dict.fromkeys(home[turn] for turn in turns)),
        gold_turns=turns,
        unanswerable=raw.category == _ADVERSARIAL,
        dangling=tuple(reference for reference in references if reference not in home),
    )


def _repaired(reference: str) -> list[str]:
    """`D8:6; D9:17` to both, `D:11:26` to `D11:26`, `D30:05` to `D30:5`; what has no such form stays as it is."""
    parts = re.split(r"[;\s]+", reference.strip())
    forms = [(part, re.fullmatch(r"D:?0*(\d+):0*(\d+)", part)) for part in parts if part]
    return [f"D{form[1]}:{form[2]}" if form else part for part, form in forms]
