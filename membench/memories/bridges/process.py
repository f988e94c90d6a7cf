"""A process of the caller's own that reads and writes lines: fed, drained, bounded, ended with all it started."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 256 * 1024
_KEPT = 64 * 1024
_SHOWN_LINES, _SHOWN_CHARACTERS = 20, 4000
_SECONDS_TO_EXIT, _SECONDS_TO_TERMINATE = 5.0, 2.0


class WriteError(Exception):
    """The process takes no more; ``overdue``: it did not read in time, else it has closed its input."""

    def __init__(self, overdue: bool) -> None:
        super().__init__()
        self.overdue = overdue


class LineProcess:
    """A running command. ``received`` is given each line that it writes, in a thread of its own; ``ended`` is called
    when it writes no more, with the reason, or with None where its output just ended.

    Raises OSError where it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        received: Callable[[bytes], None],
        ended: Callable[[str | None], None],
    ) -> None:
        # A session of its own: all that it starts ends with it, and an interrupt at the terminal is ours alone.
        self._process = subprocess.Popen(  # noqa: S603
            list(command),
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self._received = received
        self._ended = ended
        self._tail = bytearray()
        self._input, self._output, self._errors = (stream.fileno() for stream in self._streams())
        os.set_blocking(self._input, False)
        self._room = select.poll()
        self._room.register(self._input, select.POLLOUT)
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read, self._drain)]
        for reader in self._readers:
            reader.start()

    def write(self, content: bytes, seconds: float) -> None:
        """Gives it ``content``, one call at a time. Raises WriteError where it does not take it within ``seconds``."""
        until = time.monotonic() + seconds
        rest = memoryview(content)
        while rest:
            try:
                rest = rest[os.write(self._input, rest) :]
            except BlockingIOError:
                if not self._room.poll(max(0.0, until - time.monotonic()) * 1000.0):
                    raise WriteError(overdue=True) from None
            except OSError:
                raise WriteError(overdue=False) from None

    def exit_code(self, seconds: float = 0.0) -> int | None:
        """How it exited, None where it still runs after ``seconds``; negative is the number of a signal."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def last_errors(self) -> str:
        """The last lines that it wrote on standard error, fit to be shown, empty where there are none."""
        # What it wrote before it ended is on its way; a child that still holds the pipe is not waited for.
        if self.exit_code() is not None:
            self._readers[1].join(0.5)
        text = bytes(self._tail).decode(errors="replace")[-_SHOWN_CHARACTERS:]
        lines = ["".join(one if one.isprintable() else " " for one in line).rstrip() for line in text.splitlines()]
        return "\n".join(f"  | {line}" for line in lines[-_SHOWN_LINES:])

    def end(self, patiently: bool) -> None:
        """Ends its input and waits for it to exit, for a while if ``patiently``; then ends all that it has started."""
        with suppress(OSError):
            self._streams()[0].close()
        if not patiently or self.exit_code(_SECONDS_TO_EXIT) is None:
            self._signal(signal.SIGTERM)
            self.exit_code(_SECONDS_TO_TERMINATE)
        self._signal(signal.SIGKILL)
        self._process.wait()
        for reader in self._readers:
            reader.join(1.0)
        for stream, reader in zip(self._streams()[1:], self._readers, strict=True):
            # A process that left the session may hold the other end: a reader that waits on it keeps its descriptor.
            if not reader.is_alive():
                stream.close()

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101
        return process.stdin, process.stdout, process.stderr

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _read(self) -> None:
        rest = bytearray()
        while chunk := os.read(self._output, _CHUNK):
            *lines, last = chunk.split(b"\n")
            for line in lines:
                rest += line
                if len(rest) > LONGEST_LINE:
                    break
                self._received(bytes(rest))
                rest.clear()
            rest += last
            if len(rest) > LONGEST_LINE:
                self._ended(f"it wrote a line of more than {LONGEST_LINE:,} bytes")
                return
        self._ended(f"it ended in the middle of a line: {bytes(rest[:80])!r}" if rest else None)

    def _drain(self) -> None:
        while chunk := os.read(self._errors, _CHUNK):
            self._tail += chunk
            del self._tail[:-_KEPT]
