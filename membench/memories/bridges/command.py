"""A memory that is a command of the caller's own: JSON lines on its standard input and output."""

import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic_core import from_json

from membench.errors import MemoryCallError, UsageError
from membench.memories.bridges.answers import MEND, Call, Subject
from membench.memories.bridges.messages import VERSION
from membench.memories.bridges.process import LineProcess, WriteError
from membench.memories.bridges.remote import RemoteMemory, encoded

_MEND = "Standard output is for answers alone, one JSON object a line: see `membench schema memory`."
# The order of a set in Python is drawn anew in each process, and with it that of hits with equal scores.
_STEADY = {"PYTHONHASHSEED": "0"}
# How often a call that waits looks whether the process is still there: its output stays open where a child holds it.
_LOOK = 0.5


@contextmanager
def command_memory(
    spec: str, command: Sequence[str], options: Mapping[str, str], timeout: float
) -> Iterator[RemoteMemory]:
    """The memory that ``command`` speaks for, in one process. Raises UsageError where it cannot be started."""
    lines = _Lines(Subject(spec), command, timeout)
    try:
        yield RemoteMemory(lines, options)
    except BaseException:
        lines.end(patiently=False)
        raise
    lines.end(patiently=True)


class _Lines:
    """A `Line` to a process. Answers find their calls by id; a fault of the process as such is told to every call."""

    def __init__(self, subject: Subject, command: Sequence[str], timeout: float) -> None:
        self.subject = subject
        self._timeout = timeout
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._last = 0
        self._waiting: dict[int, queue.SimpleQueue[Any]] = {}
        self._fault: str | None = None
        try:
            self._process = LineProcess(command, _STEADY | os.environ, self._received, self._ended)
        except OSError as error:
            raise UsageError(
                f"The memory {subject.spec} cannot be started: {command[0]}: {error.strerror}",
                "The command is started without a shell, in the working folder, and looked for on the PATH.",
            ) from error

    def ask(self, call: Call, body: Mapping[str, Any]) -> Any:
        """The result of ``call``. Raises MemoryCallError."""
        until = time.monotonic() + self._timeout
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self._state:
            self._last += 1
            number = self._last
            self._waiting[number] = answers
            fault = self._fault
        if fault is not None:
            raise self._failed(call, fault)
        message = encoded({"membench": VERSION, "id": number, "call": call, **body}, self.subject, call)
        self._send(_one_line(message), until)
        return self._result(call, self._wait(answers, until))

    def end(self, patiently: bool) -> None:
        """Ends the process."""
        with self._state:
            patiently = patiently and self._fault is None
            self._fault = self._fault or "the run has ended"
        self._process.end(patiently)

    def _send(self, message: bytes, until: float) -> None:
        if not self._writing.acquire(timeout=max(0.0, until - time.monotonic())):
            self._break(self._overdue())
            return
        try:
            self._process.write(message, max(0.0, until - time.monotonic()))
        except WriteError as error:
            self._break(self._overdue() if error.overdue else None)
        finally:
            self._writing.release()

    def _wait(self, answers: "queue.SimpleQueue[Any]", until: float) -> Any:
        gone = False
        while True:
            rest = until - time.monotonic()
            try:
                return answers.get(timeout=max(0.0, min(rest, _LOOK)))
            except queue.Empty:
                if rest <= _LOOK:
                    self._break(self._overdue())
                elif gone:
                    self._break(None)
                gone = self._process.exit_code() is not None

    def _result(self, call: Call, answer: Any) -> Any:
        if isinstance(answer, str):
            raise self._failed(call, answer)
        if "error" in answer:
            raise self._failed(call, f"{answer['error']:.2000}", MEND)
        return answer["result"]

    def _failed(self, call: Call, fault: str, remedy: str = _MEND) -> MemoryCallError:
        errors = self._process.last_errors()
        shown = f"\nThe last that it wrote on standard error:\n{errors}" if errors else ""
        return self.subject.failed(call, fault + shown, remedy)

    def _overdue(self) -> str:
        return f"no answer within {self._timeout:g} s"

    def _received(self, line: bytes) -> None:
        with self._state:
            if self._fault is not None:
                return
        try:
            answer = from_json(line)
        except ValueError as error:
            self._break(f"it wrote a line that is no JSON ({error}): {line[:80]!r}")
            return
        fault = self._misformed(answer)
        with self._state:
            answers = None if fault else self._waiting.pop(answer["id"], None)
            asked = ", ".join(map(str, list(self._waiting)[:10])) or "none"
        if fault:
            self._break(f"{fault}: {line[:80]!r}")
        elif answers is None:
            self._break(f"it answered id {answer['id']}, which was not asked; asked and not yet answered: {asked}")
        else:
            answers.put(answer)

    @staticmethod
    def _misformed(answer: Any) -> str | None:
        if not isinstance(answer, dict):
            return "it wrote a line that is no JSON object"
        if type(answer.get("id")) is not int:
            return "it wrote an answer without the id of its call, a whole number"
        if set(answer) not in ({"id", "result"}, {"id", "error"}):
            return "it wrote an answer that has not just an id and either a result or an error"
        if "error" in answer and not isinstance(answer["error"], str):
            return "it wrote an error that is no string"
        return None

    def _ended(self, reason: str | None) -> None:
        self._break(reason)

    def _break(self, reason: str | None) -> None:
        """Tells ``reason``, or how the process ended, to every call, now and later; the first reason stays."""
        reason = reason or self._end_of_process()
        with self._state:
            self._fault = reason = self._fault or reason
            waiting, self._waiting = self._waiting, {}
        for answers in waiting.values():
            answers.put(reason)

    def _end_of_process(self) -> str:
        code = self._process.exit_code(1.0)
        if code is None:
            return "it closed its standard input or output before the run ended"
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return f"its process ended {how} before the run did"


def _one_line(message: bytes) -> bytes:
    """Line readers of some languages, Node's among them, end a line at U+2028 and U+2029 too: here they are escaped."""
    if b"\xe2\x80" in message:
        message = message.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return message + b"\n"
