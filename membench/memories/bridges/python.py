"""A memory that is a Python object of the caller's own, in this process."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import datetime
from typing import Any, TypeVar

from membench.embedding.embedder import Embedder
from membench.errors import MembenchError, UsageError
from membench.memories.bridges import serve
from membench.memories.bridges.answers import MEND, Call, Subject
from membench.memories.bridges.deadline import Deadline, OverdueError
from membench.memories.protocol import Description, Hit, Receipt, Unit

Answer = TypeVar("Answer")


@contextmanager
def python_memory(
    spec: str, options: Mapping[str, str], embedder: Embedder | None, timeout: float
) -> Iterator["PythonMemory"]:
    """The memory that the factory ``spec`` makes of ``options``. Raises UsageError, and MemoryCallError where it fails.

    ``embedder`` goes to a factory with a parameter of that name. ``timeout`` in seconds bounds every call.
    """
    with _bridge(spec, timeout) as bridge:
        factory = _factory(spec, bridge)
        embeds = serve.takes_embedder(factory)
        if embeds and "embedder" in options:
            raise UsageError(f"The memory {spec} is given the run's embedder: embedder is no option of it.")
        more = {"embedder": embedder} if embeds else {}
        with _usable(spec):
            memory = bridge.call("describe", lambda: serve.build(factory, dict(options), **more), "its factory")
        yield PythonMemory(bridge, memory, embeds and embedder is not None)


def takes_embedder(spec: str, timeout: float) -> bool:
    """Whether the factory ``spec`` wants the run's embedder. Raises as `python_memory` does."""
    with _bridge(spec, timeout) as bridge:
        return serve.takes_embedder(_factory(spec, bridge))


@contextmanager
def _bridge(spec: str, timeout: float) -> Iterator["_Bridge"]:
    deadline = Deadline(timeout)
    # What the caller's code prints is no part of what a run prints.
    with _importable(spec), redirect_stdout(sys.stderr):
        try:
            yield _Bridge(Subject(spec), deadline)
        finally:
            deadline.close()


def _factory(spec: str, bridge: "_Bridge") -> Callable[..., Any]:
    with _usable(spec):
        return bridge.call("describe", lambda: serve.find_factory(spec), "importing it")


@contextmanager
def _usable(spec: str) -> Iterator[None]:
    try:
        yield
    except serve.Unusable as error:
        raise UsageError(
            f"The memory {spec} cannot be used: {error}",
            "It is imported here, from the working folder and the packages installed beside membench; with packages of "
            "its own it runs in another interpreter: --memory-python PATH.",
        ) from error


@contextmanager
def _importable(spec: str) -> Iterator[None]:
    added = [folder for folder in serve.folders_of(spec) if folder not in sys.path]
    sys.path[:0] = added
    try:
        yield
    finally:
        for folder in added:
            if folder in sys.path:
                sys.path.remove(folder)


_TERMINATED = 128 + signal.SIGTERM


class _Bridge:
    """Calls into the caller's code: bounded in time, what it raises told with its line."""

    def __init__(self, subject: Subject, deadline: Deadline) -> None:
        self.subject = subject
        self._deadline = deadline

    def call(self, call: Call, function: Callable[[], Answer], place: str | None = None) -> Answer:
        try:
            return self._deadline.call(function)
        except OverdueError as error:
            took = f"{place or call} took longer than {self._deadline.seconds:g} s"
            raise self.subject.failed(call, took, "Make it faster, or allow more with --memory-timeout.") from error
        except (MembenchError, serve.Unusable):
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, SystemExit) and error.code == _TERMINATED:
                # The run is told to end in mid-call: that is no failure of the memory's.
                raise
            within = f"{place}: " if place else ""
            raise self.subject.failed(call, within + serve.cause(error), MEND) from error


class PythonMemory:
    """A `Memory` over an object with describe() and open()."""

    def __init__(self, bridge: _Bridge, memory: Any, embeds: bool) -> None:
        self._bridge = bridge
        self._memory = memory
        self._embeds = embeds

    def describe(self) -> Description:
        """What the object tells of itself. Raises MemoryCallError."""
        told = self._bridge.call(
            "describe", lambda: serve.plain_identity(serve.settled(self._memory.describe(), "describe"))
        )
        return self._bridge.subject.description(told, self._embeds)

    def open(self, pool: str) -> "PythonStore":
        """A store of the object. Raises MemoryCallError."""
        store = self._bridge.call("open", lambda: serve.settled(self._memory.open(pool), "open"))
        try:
            return PythonStore(self._bridge, serve.complete(store, "write", "search", "close"))
        except serve.Unusable as error:
            raise self._bridge.subject.failed("open", str(error), MEND) from error


class PythonStore:
    """A `Store` over an object with write(), search() and close()."""

    def __init__(self, bridge: _Bridge, store: Any) -> None:
        self._bridge = bridge
        self._store = store

    def write(self, units: Sequence[Unit]) -> list[Receipt]:
        """One receipt a unit. Raises MemoryCallError."""
        told = self._bridge.call(
            "write", lambda: serve.plain_receipts(serve.settled(self._store.write(units), "write"))
        )
        return self._bridge.subject.receipts(told, len(units))

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[Hit]:
        """The hits in the order of the object. Raises MemoryCallError."""
        told = self._bridge.call(
            "search", lambda: serve.plain_hits(serve.settled(self._store.search(query, limit, as_of), "search"))
        )
        return self._bridge.subject.hits(told)

    def close(self) -> None:
        """Closes the object's store. Raises MemoryCallError."""
        self._bridge.call("close", lambda: serve.settled(self._store.close(), "close"))
