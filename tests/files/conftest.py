"""A real web server that misbehaves as a test asks, and real second processes."""

import os
import re
import subprocess
import sys
import textwrap
import threading
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import membench

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """Serves ``content``. Each request takes the next answer of ``plan``; the last one, or ``whole``, is repeated."""

    def __init__(self) -> None:
        self.content = b""
        self.etag = '"v1"'
        self.plan: deque[Answer] = deque()
        self.requests: list[dict[str, str]] = []
        self.sent = 0
        self.closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append({"path": self.path, **self.headers})
                answer = site.plan.popleft() if len(site.plan) > 1 else (site.plan or [site.whole])[0]
                try:
                    answer(self)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_port}/file"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def ranges(self) -> list[str | None]:
        return [request.get("Range") for request in self.requests]

    def _head(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    def _send(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        for start in range(0, len(body), 65536):
            self.sent += handler.wfile.write(body[start : start + 65536])

    def _part(self, handler: BaseHTTPRequestHandler) -> tuple[int, int, dict[str, str]]:
        """Return the status, the first byte and the headers that a good server answers with."""
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(asked[1]) if asked and handler.headers.get("If-Range", self.etag) == self.etag else 0
        length = len(self.content)
        if start and start >= length:
            return 416, length, {"Content-Range": f"bytes */{length}", "Content-Length": "0"}
        headers = {"Content-Length": str(length - start), "ETag": self.etag}
        if not start:
            return 200, 0, headers
        return 206, start, {**headers, "Content-Range": f"bytes {start}-{length - 1}/{length}"}

    def whole(self, handler: BaseHTTPRequestHandler) -> None:
        status, start, headers = self._part(handler)
        self._head(handler, status, headers)
        self._send(handler, self.content[start:])

    def ignoring_ranges(self, handler: BaseHTTPRequestHandler) -> None:
        self._head(handler, 200, {"Content-Length": str(len(self.content))})
        self._send(handler, self.content)

    def truncated(self, count: int) -> Answer:
        """Break off after ``count`` bytes of what was announced."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            status, start, headers = self._part(handler)
            self._head(handler, status, headers)
            self._send(handler, self.content[start : start + count])

        return answer

    def stalled(self, count: int) -> Answer:
        """Say nothing more after ``count`` bytes, and keep the connection open."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            self.truncated(count)(handler)
            handler.wfile.flush()
            self.closing.wait()

        return answer

    def status(self, code: int, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return lambda handler: self._head(handler, code, {**named, "Content-Length": "0"})

    def body(self, content: bytes, code: int = 200, **headers: str) -> Answer:
        """Send ``content`` whatever is asked for; without a Content-Length its end is the end of the connection."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def answer(handler: BaseHTTPRequestHandler) -> None:
            self._head(handler, code, named)
            self._send(handler, content)

        return answer


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    yield served
    served.close()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python script, with arguments, in a process of its own."""
    processes: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: object) -> subprocess.Popen[str]:
        # A shell that starts the tests in the background leaves SIGINT ignored.
        text = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + textwrap.dedent(script)
        process = subprocess.Popen(
            [sys.executable, "-c", text, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(membench.__file__).parents[1])},
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()
