"""What is said over every bridge: the calls and their answers, strict, with a version.

`membench.memory/1` is the first version. Unknown fields of an answer are refused: a misspelt one would pass unseen.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from membench.memories.protocol import Setting

VERSION: Final = "membench.memory/1"
MOST_UNITS: Final = 256
"""Of one write; more are several writes."""

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Status = Literal["stored", "duplicate", "refused"]
# Not the format "date-time": that demands a zone, which no corpus states.
Moment = Annotated[
    datetime,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$",
            "description": "ISO 8601 without a zone: corpora state none.",
        }
    ),
]


class Message(BaseModel):
    """A part of a call or of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _example(**fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [fields]})


class DescribeCall(Message):
    """Who are you? ``options`` are those of `--memory-option`, as they were written."""

    model_config = _example(options={"k": "3"})

    options: dict[str, str]


class DescribeAnswer(Message):
    """The memory's identity: two measurements are compared only where all of it agrees, save the last three.

    ``backend`` is what ranks, by default the name. ``ephemeral``: everything written is gone after `close`, and nothing
    else stands in the store; a memory that does not say so is not written to without being allowed. ``honours_as_of``:
    a search answers as of the date that it is given. ``concurrency``: how many searches may be asked at a time.
    """

    model_config = _example(name="words", version="1", settings={"k": 3}, ephemeral=True)

    name: Name
    version: Name
    backend: Name | None = None
    settings: dict[Name, Setting] = {}
    ephemeral: bool = False
    honours_as_of: bool = False
    concurrency: Annotated[int, Field(ge=1, le=64)] = 1


class OpenCall(Message):
    """A fresh, empty store, please. ``pool`` is opaque, and safe in a file name, a table name or an address."""

    model_config = _example(pool="p1")

    pool: Name


class UnitMessage(Message):
    """What is written once: ``id`` and ``session`` are opaque; ``time`` is when it was said, null where unknown."""

    id: Name
    session: Name
    text: str
    time: Moment | None


class WriteCall(Message):
    """At most 256 units, in the order in which they were said."""

    model_config = _example(
        pool="p1",
        units=[{"id": "u1", "session": "s1", "text": "I adopted a greyhound.", "time": "2024-03-05T18:30:00"}],
    )

    pool: Name
    units: Annotated[list[UnitMessage], Field(max_length=MOST_UNITS)]


class ReceiptMessage(Message):
    """What became of one unit. ``displaced`` names units that this write pushed out of the store."""

    status: Status
    reason: str | None = None
    displaced: list[str] = []


class WriteAnswer(Message):
    """One receipt a unit, in their order: the status alone, or with more. What is `stored`, the next search finds."""

    model_config = _example(receipts=["stored", {"status": "refused", "reason": "blank"}])

    receipts: list[Status | ReceiptMessage]


class SearchCall(Message):
    """``limit`` hits at most, as the memory would give them at ``as_of``; null for no particular time."""

    model_config = _example(pool="p1", query="Which breed is my dog?", limit=20, as_of=None)

    pool: Name
    query: str
    limit: Annotated[int, Field(ge=1)]
    as_of: Moment | None


class HitMessage(Message):
    """One hit, by the id of its unit or, from a memory that keeps no ids, by its text."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["unit"]}, {"required": ["text"]}]})

    score: float
    unit: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _has_a_name(self) -> "HitMessage":
        if self.unit is None and self.text is None:
            raise ValueError("a hit has neither a unit nor a text")
        return self


class SearchAnswer(Message):
    """The hits, best first: the highest score is the best."""

    model_config = _example(hits=[{"unit": "u1", "score": 0.83}])

    hits: list[HitMessage]


class CloseCall(Message):
    """Leave nothing of the pool behind."""

    model_config = _example(pool="p1")

    pool: Name


class Nothing(Message):
    """The answer to a call that asks for nothing."""

    model_config = _example()


class Failure(Message):
    """The answer of a memory that could not do what it was asked for; the run ends with this text."""

    model_config = _example(error="the index is full")

    error: str
