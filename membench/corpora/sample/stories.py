"""The stories: what they are, and how their files in `stories/` are read.

A file is written for a human reader. Long lines may be broken; a continuation is indented by four spaces.

    dog: Pepper | Olive | Biscuit       a slot with one value for each reading of the story, used as {dog}
    apart: kitchen money                stories that contradict this one, and so never share an instance with it

    == 0.33                             a session, at this share of the months that an instance spans
    U: ...                              the user speaks
    U walker: ...                       the same; the turn can be named as evidence
    A: ...                              the assistant speaks

    ?? multi-hop walker class           a query: its category and the turns that hold its evidence
    ?? knowledge-update new < old       the evidence, then the turn that stated what is no longer so
    What ...                            its text
    = ...                               its answer; none where the query is unanswerable

`wording` documents what may stand in a text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from membench.corpora.types import Role
from membench.errors import CorpusError

READINGS = 3
FOLDER = Path(__file__).parent / "stories"
ROLES: dict[str, Role] = {"U": "user", "A": "assistant"}


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as it is written. ``label`` is empty where no query names it."""

    role: Role
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One session as it is written. ``at`` is its place in the instance's span, from 0 to 1."""

    at: float
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Ask:
    """One query as it is written. ``superseded`` is the label of the statement that no longer holds, or empty."""

    category: str
    evidence: tuple[str, ...]
    superseded: str
    text: str = ""
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """Several sessions about one matter, and what is asked about them."""

    name: str
    apart: frozenset[str]
    slots: dict[str, tuple[str, ...]]
    scenes: tuple[Scene, ...]
    asks: tuple[Ask, ...]


def load_stories(folder: Path = FOLDER) -> tuple[Story, ...]:
    """Every story, by file name."""
    return tuple(parse_story(path.stem, path.read_text("utf-8")) for path in sorted(folder.glob("*.txt")))


def parse_story(name: str, text: str) -> Story:
    """The story that ``text`` tells; raises CorpusError where a line cannot be read."""
    apart: frozenset[str] = frozenset()
    slots: dict[str, tuple[str, ...]] = {}
    scenes: list[Scene] = []
    asks: list[Ask] = []
    for line in _joined(text):
        head, _, rest = line.partition(" ")
        if head == "==":
            scenes.append(Scene(float(rest)))
        elif head == "??":
            asks.append(_ask(rest))
        elif asks and head == "=":
            asks[-1].answer = rest
        elif asks:
            asks[-1].text = line
        elif scenes:
            scenes[-1].lines.append(_line(name, line))
        elif head == "apart:":
            apart = frozenset(rest.split())
        else:
            slots[head.removesuffix(":")] = _values(name, line, rest)
    return Story(name, apart, slots, tuple(scenes), tuple(asks))


def _joined(text: str) -> Iterator[str]:
    """The lines of ``text`` that say something, with continuations joined to what they continue."""
    pending = ""
    for raw in text.splitlines():
        if raw.startswith("    "):
            pending += " " + raw.strip()
            continue
        if pending:
            yield pending
        pending = raw.strip()
    if pending:
        yield pending


def _line(name: str, line: str) -> Line:
    head, colon, text = line.partition(": ")
    role, _, label = head.partition(" ")
    if not colon or role not in ROLES:
        raise CorpusError(f"story {name}: not a turn: {line[:60]!r}")
    return Line(ROLES[role], label, text)


def _ask(rest: str) -> Ask:
    evidence, _, superseded = rest.partition(" < ")
    category, *labels = evidence.split()
    return Ask(category, tuple(labels), superseded)


def _values(name: str, line: str, rest: str) -> tuple[str, ...]:
    values = tuple(value.strip() for value in rest.split("|"))
    if len(values) != READINGS:
        raise CorpusError(f"story {name}: expected {READINGS} values: {line[:60]!r}")
    return values
