"""The page about a memory of one's own: what it shows is run."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from membench.memories.bridges import process, service
from membench.memories.bridges.messages import MOST_UNITS, VERSION, DescribeAnswer
from membench.memories.protocol import Receipt
from membench.memories.spec import TIMEOUT, open_memory

PAGE = (Path(__file__).parents[3] / "docs" / "own-memory.md").read_text(encoding="utf-8")


def block(language, number=0):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[number]


def check(spec, units, python=None):
    with open_memory(spec, {}, None, python=python) as memory:
        told = memory.describe()
        assert (told.name, told.version, told.ephemeral, told.own) == ("words", "1", True, True)
        one, other = memory.open("p1"), memory.open("p2")
        assert one.write(units) == [Receipt("stored")] * 3
        assert [hit.unit for hit in one.search("TEXT 2", 2, None)] == ["u2", "u0"]
        assert one.search("nothing of it", 2, None) == []
        assert other.search("text 2", 2, None) == []
        one.close()
        other.close()
        again = memory.open("p1")
        assert again.search("text 2", 2, None) == []
        again.close()


@pytest.mark.parametrize("python", [None, sys.executable], ids=["in process", "own interpreter"])
def test_the_python_memory(tmp_path, monkeypatch, units, python):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = block("python")
    (tmp_path / "my_memory.py").write_text(text)
    try:
        check("my_memory.py:Memory", units, python)
    finally:
        sys.modules.pop("my_memory", None)
    assert len([line for line in text.splitlines() if line.strip()]) <= 15
    assert "import" not in text


def test_the_node_memory(tmp_path, monkeypatch, units):
    if shutil.which("node") is None:
        pytest.skip("node is absent; it runs the example: apt-get install nodejs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.mjs").write_text(block("javascript"))
    check("cmd:node memory.mjs", units)


@pytest.fixture
def port(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    text = block("python", 1)
    assert "8080" in text
    (tmp_path / "service.py").write_text(text.replace("8080", str(number)))
    running = subprocess.Popen([sys.executable, tmp_path / "service.py"], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", number)) == 0:
                break
        time.sleep(0.05)
    yield str(number)
    running.kill()
    running.wait()


def test_the_service(port, units):
    check(f"http://127.0.0.1:{port}", units)


def test_the_calls_by_hand(port, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is absent; it makes the calls: apt-get install curl")
    lines = block("console").replace("8080", port).splitlines()
    assert len(lines) == 10
    for command, shown in zip(lines[::2], lines[1::2], strict=True):
        run = subprocess.run(["sh", "-c", command.removeprefix("$ ")], capture_output=True, text=True, cwd=tmp_path)
        assert (run.stdout, run.returncode) == (shown, 0)


def test_the_lines_that_it_shows_are_of_the_contract():
    asked, answered = map(json.loads, block("json").splitlines())
    assert asked["membench"] == VERSION
    assert asked["id"] == answered["id"]


def test_the_numbers_on_the_page_are_those_of_the_code():
    assert f"at most {MOST_UNITS}, in the order" in PAGE
    assert f"`--memory-timeout`, {TIMEOUT:g} s" in PAGE
    assert f"{service.POLICY.attempts} attempts, after {service.POLICY.first_wait:g} s" in PAGE
    assert f"at most {service.POLICY.longest_wait:g} s each" in PAGE
    assert process.LONGEST_LINE == service.LARGEST_ANSWER == 16 * 2**20
    for name in DescribeAnswer.model_fields:
        assert f"| `{name}` |" in PAGE
