"""Memories of a caller's own that misbehave as a test asks: files, real processes, a real web server."""

import json
import os
import shlex
import sys
import textwrap
import threading
import time
from collections import deque
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from membench.memories.protocol import Unit

PRELUDE = """
import json, os, signal, sys, time

def call():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

def say(id, **more):
    print(json.dumps({"id": id, **more}), flush=True)

def begin(**more):
    say(call()["id"], result={"name": "own", "version": "1", "ephemeral": True, **more})
    say(call()["id"], result={})
"""
GOOD = {
    "describe": {"name": "own", "version": "1", "ephemeral": True},
    "open": {},
    "write": {"receipts": ["stored"]},
    "search": {"hits": [{"unit": "u0", "score": 0.5}]},
    "close": {},
}


@pytest.fixture
def units():
    return [Unit(f"u{n}", "s1", f"text {n}", datetime(2024, 3, 5, 18, 30) if n % 2 else None) for n in range(3)]


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch):
    """No test leaves a process, be it a zombie."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    before = set(_children())
    yield
    until = time.monotonic() + 2
    while (left := set(_children()) - before) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left


def _children():
    for task in Path("/proc/self/task").iterdir():
        # A thread may end while it is being looked at.
        with suppress(OSError):
            yield from (task / "children").read_text().split()


@pytest.fixture
def is_gone():
    """Whether a process is no more, for which it gets a moment."""

    def gone(pid):
        until = time.monotonic() + 2
        while time.monotonic() < until:
            stat = Path(f"/proc/{pid}/stat")
            if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            time.sleep(0.02)
        return False

    return gone


@pytest.fixture
def command(tmp_path):
    """The SPEC of a command that is a Python script, which has `call`, `say` and `begin`."""

    def write(script):
        path = tmp_path / "own command.py"
        path.write_text(PRELUDE + textwrap.dedent(script))
        return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


@pytest.fixture
def python_file(tmp_path, monkeypatch):
    """Writes a file into the working folder; its name is the test's alone, as modules are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)

    def write(text, name="own_memory.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    yield write
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


class Service:
    """Answers well, save where ``plan`` has answers for a call: each takes the next, and the last is repeated."""

    def __init__(self):
        self.plan = {}
        self.asked = []
        self.bodies = []
        self.headers = []
        self.connections = 0
        self.closing = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self):
                service.connections += 1
                super().setup()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                call = self.path.rpartition("/")[2]
                service.asked.append(self.path)
                service.bodies.append(json.loads(body))
                service.headers.append(dict(self.headers))
                plan = service.plan.get(call) or deque([service.good(call)])
                try:
                    (plan.popleft() if len(plan) > 1 else plan[0])(self)
                    self.wfile.flush()
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def on(self, call, *answers):
        self.plan[call] = deque(answers)

    def calls(self):
        return [path.rpartition("/")[2] for path in self.asked]

    @staticmethod
    def answer(told, status=200, kind="application/json", **headers):
        body = told if isinstance(told, bytes) else json.dumps(told).encode()

        def send(handler):
            handler.send_response(status)
            named = {"Content-Type": kind, "Content-Length": str(len(body))}
            for name, value in {**named, **headers}.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        return send

    def good(self, call):
        return self.answer(GOOD[call])

    @staticmethod
    def cut_off(content):
        def send(handler):
            handler.wfile.write(content)
            handler.close_connection = True

        return send

    @staticmethod
    def chunked(told, pieces):
        def send(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json; charset=utf-8")
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            body = json.dumps(told).encode()
            size = -(-len(body) // pieces)
            for start in range(0, len(body), size):
                piece = body[start : start + size]
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.write(b"0\r\n\r\n")

        return send

    def drip(self, content):
        """Sends ``content`` a byte at a time, and never all of what it announced."""

        def send(handler):
            for place in range(len(content)):
                handler.wfile.write(content[place : place + 1])
                handler.wfile.flush()
                if self.closing.wait(0.05):
                    return

        return send

    def silence(self, handler):
        self.closing.wait(30)

    @staticmethod
    def hang_up(handler):
        handler.connection.close()
        handler.close_connection = True
        raise ConnectionError

    @staticmethod
    def flood(size):
        def send(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Connection", "close")
            handler.end_headers()
            for _ in range(size // 65536):
                handler.wfile.write(b"[" * 65536)

        return send


@pytest.fixture
def service():
    served = Service()
    yield served
    served.close()


@pytest.fixture
def own_environment():
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
