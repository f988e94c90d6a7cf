"""Each memory as a run and as a check meet it: the command, a process of its own, the real model."""

import json
import os
import socket
import subprocess
import sys

import pytest

from membench.files.paths import cache_root
from membench.memories.check.run import CheckRequest, check_spec

pytestmark = [pytest.mark.examples, pytest.mark.slow]


@pytest.fixture
def proxy():
    """An address on which nobody answers, but which tells whether anybody asked for it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def test_a_run_measures_it_and_neither_calls_home_nor_writes_there(example, default_model, proxy, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    address = "http://{}:{}".format(*proxy.getsockname())
    proxies = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"], address)
    environment = {**os.environ, **proxies, "HOME": str(home), "MEMBENCH_CACHE": str(cache_root())}
    options = [word for name, value in example.options for word in ("--memory-option", f"{name}={value}")]
    command = [sys.executable, "-m", "membench", "retrieval", "sample", "--instances", "1", "--memory", example.spec]
    run = subprocess.run([*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (path,) = [path for path in (tmp_path / "reports").glob("*.json") if "provenance" not in path.name]
    measurement = json.loads(path.read_bytes())
    assert measurement["status"] == "clean" and not measurement["memory"]["noisy"]
    assert measurement["accounting"]["foreign_hits"] == measurement["accounting"]["unattributed_hits"] == 0
    assert measurement["accounting"]["written"] == measurement["corpus"]["turns"]
    for level in ("session", "turn"):
        assert measurement["metrics"][level]["recall_all"]["5"]["value"] > 0.25
    assert list(home.iterdir()) == []
    with pytest.raises(BlockingIOError):
        proxy.accept()


def test_it_holds_to_the_contract(example, default_model):
    request = CheckRequest(example.spec, options=dict(example.options), workers=os.cpu_count() or 1)
    report = check_spec(request, root=cache_root(), told=lambda _: None)
    assert [(result.name, result.reason) for result in report.results if result.holds is False] == []
    assert report.holds
