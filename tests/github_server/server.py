"""The HTTP side of a hub, and the way in: ``github_server``."""

import json
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from github_server.contract import Contract
from github_server.description import load_description, why_unavailable
from github_server.exchange import Exchange
from github_server.hub import Hub
from github_server.routing import Answer


@contextmanager
def github_server(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    owner: str = "acme",
    name: str = "memory",
    default_branch: str = "main",
) -> Iterator[Hub]:
    """Yield a hub whose repository has one commit with ``files``, served until the body ends.

    The test is skipped where GitHub's description is not cached and cannot be fetched.
    """
    reason = why_unavailable()
    if reason:
        pytest.skip(reason)
    hub = Hub(folder, _contract(), owner, name, default_branch)
    try:
        hub.person.commit(default_branch, files, "Begin")
        with _serving(hub) as hub.url:
            yield hub
    finally:
        hub.repository.close()


# One for the whole run, for it keeps its validators.
@lru_cache(maxsize=1)
def _contract() -> Contract:
    return Contract(load_description())


@contextmanager
def _serving(hub: Hub) -> Iterator[str]:
    """Serve a hub on a free port of this machine while the body runs; yield the address of its API."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            exchange = Exchange(self.hub, self.command, self.path, headers, body)
            fault, answer = exchange.run()
        except Exception:  # noqa: BLE001 - the test has to be told, and the client answered
            self.hub.violations.append(f"the server broke on {self.command} {self.path}: {traceback.format_exc()}")
            fault, answer = None, Answer(500, {"message": "Server Error"})
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault and fault.close:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _send(self, answer: Answer) -> None:
        data = answer.body if isinstance(answer.body, bytes) else b""
        if answer.body is not None and not isinstance(answer.body, bytes):
            data = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.body is not None:
            self.send_header("Content-Type", f"{answer.media}; charset=utf-8")
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        with suppress(OSError):
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Keep standard error for the tests; the hub has every request."""
