"""Calls of code that may never come back, bounded in time."""

import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class OverdueError(Exception):
    """A call took longer than it may."""


class _Alarm(BaseException):
    """Raised into a call that is overdue; no `except Exception` of the code that is called holds it up."""


class Deadline:
    """Ends calls after ``seconds``.

    In the main thread a call is interrupted by a signal: at once in Python code and in waiting for the system, in other
    compiled code when that returns. In any other thread a call runs in a companion of that thread, always the same one,
    which is left behind when it is overdue: a thread cannot be ended from outside.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._own = threading.local()
        self._companions: list[_Companion] = []

    def call(self, function: Callable[[], Answer]) -> Answer:
        """What ``function`` gives or raises. Raises OverdueError."""
        if threading.current_thread() is not threading.main_thread():
            return self._companion().call(function, self.seconds)
        try:
            with _alarm(self.seconds):
                return function()
        except _Alarm:
            raise OverdueError from None

    def close(self) -> None:
        """Lets the companions end that are idle."""
        for companion in self._companions:
            companion.calls.put(None)
        self._companions.clear()

    def _companion(self) -> "_Companion":
        companion: _Companion | None = getattr(self._own, "companion", None)
        if companion is None or companion.lost:
            companion = self._own.companion = _Companion()
            self._companions.append(companion)
        return companion


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGALRM, ring)
    begun = time.monotonic()
    rest, interval = 0.0, 0.0
    try:
        try:
            rest, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
        finally:
            # It rings once: when it rings here, there is nothing left to stop.
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)
        if rest:
            signal.setitimer(signal.ITIMER_REAL, max(rest - (time.monotonic() - begun), 0.001), interval)


class _Companion:
    """A thread that makes the calls of another; ``lost`` once one of them did not come back."""

    def __init__(self) -> None:
        self.calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.lost = False
        # A daemon: one that is lost must not hold up the end of the process.
        threading.Thread(target=self._run, name="memory call", daemon=True).start()

    def call(self, function: Callable[[], Answer], seconds: float) -> Answer:
        self.calls.put(function)
        try:
            result, error = self.results.get(timeout=seconds)
        except queue.Empty:
            self.lost = True
            self.calls.put(None)
            raise OverdueError from None
        if error is not None:
            raise error
        answer: Answer = result
        return answer

    def _run(self) -> None:
        while (function := self.calls.get()) is not None:
            try:
                self.results.put((function(), None))
            except BaseException as error:  # noqa: BLE001 - it is raised in the thread that asked
                self.results.put((None, error))
