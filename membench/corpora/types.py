"""The words of a corpus: instances of sessions and queries.

These types hold what was read and nothing else. How a turn becomes text is `rendering`'s concern, which of it a run
uses is `slices`', and no type here knows an answer's wording: retrieval is scored on evidence alone.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. ``id`` is unique within its instance; ``caption`` describes an image that was shared with it."""

    id: str
    role: Role
    speaker: str
    text: str
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. ``id`` is unique within its instance; ``date`` is None where the corpus's does not parse.

    ``repeated``: the corpus gives it the id of an earlier session; here it has one of its own.
    """

    id: str
    date: datetime | None
    turns: tuple[Turn, ...]
    repeated: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Category:
    """A kind of query: its name here, and the corpus's own number or label."""

    name: str
    number: int | str


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and the ids of the sessions and turns that hold its evidence, in the order of the conversation.

    ``asked`` is the date on which it is asked, where the corpus has one. ``dangling`` lists the evidence references
    that name nothing in the haystack. An unanswerable query may carry gold; it is never scored.
    """

    id: str
    text: str
    category: Category
    gold_sessions: tuple[str, ...]
    gold_turns: tuple[str, ...]
    unanswerable: bool = False
    asked: datetime | None = None
    dangling: tuple[str, ...] = ()

    @property
    def scorable(self) -> bool:
        """Retrieval is scored on answerable queries with gold: for the others, finding something proves nothing."""
        return bool(self.gold_sessions) and not self.unanswerable


@dataclass(frozen=True, slots=True)
class Instance:
    """One haystack and the queries that are asked of it."""

    id: str
    sessions: tuple[Session, ...]
    queries: tuple[Query, ...]
