"""A memory on the other side of a line: what is asked and answered, however it travels."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import orjson

from membench.memories.bridges.answers import Call, Subject
from membench.memories.bridges.messages import MOST_UNITS, Nothing
from membench.memories.protocol import Description, Hit, Receipt, Unit


class Line(Protocol):
    """The way to a memory. Several threads may ask at a time."""

    @property
    def subject(self) -> Subject:
        """Names the memory in errors."""
        ...

    def ask(self, call: Call, body: Mapping[str, Any]) -> Any:
        """What was answered, as JSON has it. Raises MemoryCallError."""
        ...


def encoded(message: Mapping[str, Any], subject: Subject, call: Call) -> bytes:
    """``message`` as JSON. Raises MemoryCallError for text that UTF-8 cannot hold."""
    try:
        return orjson.dumps(message)
    except TypeError as error:
        raise subject.failed(call, f"a text cannot be sent: {error}", "Mend the corpus.") from error


class RemoteMemory:
    """A `Memory` over a line. It is told its options before anything else is asked."""

    def __init__(self, line: Line, options: Mapping[str, str]) -> None:
        self._line = line
        self._options = dict(options)
        self._told = False

    def describe(self) -> Description:
        """What it tells of itself. Raises MemoryCallError."""
        told = self._line.subject.description(self._line.ask("describe", {"options": self._options}))
        self._told = True
        return told

    def open(self, pool: str) -> "RemoteStore":
        """A store on the other side. Raises MemoryCallError."""
        if not self._told:
            self.describe()
        self._line.subject.checked(Nothing, "open", self._line.ask("open", {"pool": pool}))
        return RemoteStore(self._line, pool)


class RemoteStore:
    """A `Store` over a line."""

    def __init__(self, line: Line, pool: str) -> None:
        self._line = line
        self._pool = pool

    def write(self, units: Sequence[Unit]) -> list[Receipt]:
        """One receipt a unit. Raises MemoryCallError."""
        receipts: list[Receipt] = []
        for start in range(0, len(units), MOST_UNITS):
            part = units[start : start + MOST_UNITS]
            told = self._line.ask("write", {"pool": self._pool, "units": part})
            receipts += self._line.subject.receipts(told, len(part))
        return receipts

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[Hit]:
        """The hits in the order in which they came. Raises MemoryCallError."""
        body = {"pool": self._pool, "query": query, "limit": limit, "as_of": as_of}
        return self._line.subject.hits(self._line.ask("search", body))

    def close(self) -> None:
        """Closes the store on the other side. Raises MemoryCallError."""
        self._line.subject.checked(Nothing, "close", self._line.ask("close", {"pool": self._pool}))
