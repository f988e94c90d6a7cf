"""What is said over every bridge: the calls and their answers, strict, with a version.

`membench.memory/1` is the first version. Unknown fields of an answer are refused: a misspelt one would pass unseen.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from membench.memories.protocol import Setting

VERSION: Final = "membench.memory/1"

Name = Annotated[str, Field(min_length=1, max_length=200)]


class Message(BaseModel):
    """A part of a call or of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class DescribeCall(Message):
    """Who are you? ``options`` are those of `--memory-option`, as they were written."""

    options: dict[str, str]


class DescribeAnswer(Message):
    """The memory's identity: two measurements are compared only where all of it agrees, save the last three.

    ``backend`` is what ranks, by default the name. ``ephemeral``: everything written is gone after `close`, and nothing
    else stands in the store; a memory that does not say so is not written to without being allowed. ``honours_as_of``:
    a search answers as of the date that it is given. ``concurrency``: how many searches may be asked at a time.
    """

    name: Name
    version: Name
    backend: Name | None = None
    settings: dict[str, Setting] = {}
    ephemeral: bool = False
    honours_as_of: bool = False
    concurrency: Annotated[int, Field(ge=1, le=64)] = 1


class OpenCall(Message):
    """A fresh, empty store, please. ``pool`` is opaque, and safe in a file name, a table name or an address."""

    pool: Name


class UnitMessage(Message):
    """What is written once: ``id`` and ``session`` are opaque; ``time`` is when it was said, ISO 8601, or null."""

    id: Name
    session: Name
    text: str
    time: datetime | None


class WriteCall(Message):
    """At most 256 units, in the order in which they were said."""

    pool: Name
    units: list[UnitMessage]


class ReceiptMessage(Message):
    """What became of one unit. ``displaced`` names units that this write pushed out of the store."""

    status: Literal["stored", "duplicate", "refused"]
    reason: str | None = None
    displaced: list[str] = []


class WriteAnswer(Message):
    """One receipt a unit, in their order; what is `stored` is found by the next search."""

    receipts: list[ReceiptMessage]


class SearchCall(Message):
    """``limit`` hits at most, as the memory would give them at ``as_of``: ISO 8601, or null for no particular time."""

    pool: Name
    query: str
    limit: Annotated[int, Field(ge=1)]
    as_of: datetime | None


class HitMessage(Message):
    """One hit, by the id of its unit or, from a memory that keeps no ids, by its text."""

    score: float
    unit: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _has_a_name(self) -> "HitMessage":
        if self.unit is None and self.text is None:
            raise ValueError("a hit has neither a unit nor a text")
        return self


class SearchAnswer(Message):
    """The hits, best first."""

    hits: list[HitMessage]


class CloseCall(Message):
    """Leave nothing of the pool behind."""

    pool: Name


class Nothing(Message):
    """The answer to a call that asks for nothing."""
