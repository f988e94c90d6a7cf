"""What each bridge adds to a call: a memory that does nothing, asked to search, and to write units by the batch."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.result import Result
from membench.memories.bridges.messages import MOST_UNITS
from membench.memories.protocol import Store, Unit
from membench.memories.spec import open_memory

_BOUNDS = {"Python": 0.05, "command": 0.3, "HTTP": 1.5}
_SEARCHES = 1000
_BATCHES = 100
_TEXT = "I adopted a greyhound called Pixel on Saturday, and the neighbour's dog has barked at her ever since."

_PYTHON = """
class Memory:
    def describe(self):
        return {"name": "empty", "version": "1", "ephemeral": True}
    def open(self, pool):
        return self
    def write(self, units):
        return ["stored"] * len(units)
    def search(self, query, limit, as_of):
        return []
    def close(self):
        pass
"""
_SERVICE = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = {
            "describe": lambda: {"name": "empty", "version": "1", "ephemeral": True},
            "write": lambda: {"receipts": ["stored"] * len(asked["units"])},
            "search": lambda: {"hits": []},
        }.get(self.path.rpartition("/")[2], dict)()
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def benchmarks() -> Iterator[Result]:
    """Milliseconds a search, and a unit of a full batch, median."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty_memory.py"
        file.write_text(_PYTHON, encoding="utf-8")
        spec = f"{file}:Memory"
        yield from _measured("Python", spec, None)
        yield from _measured("command", spec, sys.executable)
        with _service() as address:
            yield from _measured("HTTP", address, None)


def _measured(bridge: str, spec: str, python: str | None) -> Iterator[Result]:
    units = [Unit(f"u{place}", f"s{place // 20}", _TEXT, None) for place in range(MOST_UNITS)]
    with open_memory(spec, {}, None, python=python) as memory:
        store: Store = memory.open("benchmark")
        search = _milliseconds(lambda: store.search("Which breed is my dog?", 20, None), _SEARCHES)
        batch = _milliseconds(lambda: store.write(units), _BATCHES)
        store.close()
    bound = _BOUNDS[bridge]
    yield Result(f"{bridge} bridge, a search", f"{search:.3f} ms", f"at most {bound:g} ms", search <= bound)
    yield Result(
        f"{bridge} bridge, a unit of a write of {MOST_UNITS}, which takes {batch:.2f} ms",
        f"{batch / MOST_UNITS:.4f} ms",
        f"at most {bound:g} ms",
        batch / MOST_UNITS <= bound,
    )


def _milliseconds(call: Callable[[], object], calls: int) -> float:
    for _ in range(calls // 10):
        call()
    seconds = []
    for _ in range(calls):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return 1000 * median(seconds)


@contextmanager
def _service() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _SERVICE], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()
