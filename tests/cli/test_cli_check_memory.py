"""`membench check-memory`, a process of its own, over every bridge."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from textwrap import dedent

import pytest

from membench.memories.check.report import CheckReport

MEMORY = dedent('''
    """A memory as somebody writes it who knows nothing of membench but the contract."""

    class Store:
        def __init__(self, flaw):
            self.flaw = flaw
            self.units = []

        def write(self, units):
            print("a word of mine")
            self.units += units
            return ["stored"] * len(units)

        def search(self, query, limit, as_of):
            if self.flaw == "empty" and not query:
                raise ValueError("no query")
            if self.flaw == "exit" and not query:
                raise SystemExit(0)
            asked = set(query.split())
            scored = [(unit.id, len(asked & set(unit.text.split()))) for unit in self.units]
            ranked = sorted(scored, key=lambda hit: -hit[1])
            return ranked if self.flaw == "limit" else ranked[:limit]

        def close(self):
            self.units = []

    class Memory:
        def __init__(self, flaw="", concurrency="1"):
            self.flaw = flaw
            self.concurrency = int(concurrency)

        def describe(self):
            if self.flaw == "persistent":
                return {"name": "mine", "version": "7"}
            name = "bm25" if self.flaw == "name" else "mine"
            return {"name": name, "version": "7", "ephemeral": True, "concurrency": self.concurrency}

        def open(self, pool):
            return Store(self.flaw)

    def embedding(embedder):
        class Embedding(Memory):
            def open(self, pool):
                embedder.embed(["hello"], "document")
                return Store("")
        return Embedding()
''')

# The contract by hand: the same memory behind another language's JSON lines would say the same.
COMMAND = dedent("""
    import json, os, sys
    from my_memory import Memory
    from collections import namedtuple
    sys.stdout, out = sys.stderr, sys.stdout
    Unit = namedtuple("Unit", "id session text time")
    memory, stores = Memory(), {}
    for line in sys.stdin:
        call = json.loads(line)
        kind = call["call"]
        if kind == "describe":
            memory = Memory(**call["options"])
            result = memory.describe()
        elif kind == "open":
            result, stores[call["pool"]] = {}, memory.open(call["pool"])
        elif memory.flaw == "restart" and call["pool"] not in stores:
            result = {"hits": []} if kind == "search" else {"receipts": ["stored"] * len(call["units"])}
        elif call["pool"] not in stores:
            print(json.dumps({"id": call["id"], "error": "no such pool"}), file=out, flush=True)
            continue
        elif kind == "write":
            if memory.flaw == "dies" and "\\0" in call["units"][0]["text"]:
                os._exit(3)
            result = {"receipts": stores[call["pool"]].write([Unit(**unit) for unit in call["units"]])}
        elif kind == "search":
            hits = stores[call["pool"]].search(call["query"], call["limit"], call["as_of"])
            result = {"hits": [{"unit": unit, "score": score} for unit, score in hits]}
        else:
            result = {}
            stores.pop(call["pool"]).close()
        print(json.dumps({"id": call["id"], "result": result}), file=out, flush=True)
""")


@pytest.fixture(scope="module")
def command(new_command):
    command = new_command()
    (command.folder / "my_memory.py").write_text(MEMORY)
    (command.folder / "lines.py").write_text(COMMAND)
    return command


RULES = 17
LINES = f"cmd:{sys.executable} lines.py"
OPTION = "--memory-option"
# Arguments, exit code, the rules that are broken, those that are open.
CHECKED = {
    "bm25": (("bm25",), 0, [], ["concurrent"]),
    "a good file": (("my_memory.py:Memory",), 0, [], ["concurrent"]),
    "a good module": (("my_memory:Memory", OPTION, "concurrency=3"), 0, [], []),
    "a file without a limit": (("./my_memory.py:Memory", OPTION, "flaw=limit"), 1, ["limit"], ["concurrent"]),
    "a file that fails": (("my_memory.py:Memory", OPTION, "flaw=empty"), 1, ["queries"], ["concurrent"]),
    "a file that exits": (("my_memory.py:Memory", OPTION, "flaw=exit"), 1, ["queries"], ["concurrent"]),
    "a good command": ((LINES,), 0, [], ["concurrent"]),
    "a command without a limit": ((LINES, OPTION, "flaw=limit"), 1, ["limit"], ["concurrent"]),
    "a command that forgets its pools": ((LINES, OPTION, "flaw=restart"), 1, ["errors"], ["concurrent"]),
    "a command that dies": ((LINES, OPTION, "flaw=dies"), 1, ["unicode"], ["concurrent"]),
    "another interpreter": (("my_memory.py:Memory", "--memory-python", sys.executable), 0, [], ["concurrent"]),
    "another interpreter, without a limit": (
        ("my_memory.py:Memory", "--memory-python", sys.executable, OPTION, "flaw=limit", OPTION, "concurrency=4"),
        1,
        ["limit"],
        [],
    ),
    "a persistent one that is allowed": (
        ("my_memory.py:Memory", OPTION, "flaw=persistent", "--allow-persistent"),
        0,
        [],
        ["concurrent", "close"],
    ),
    "one with the run's embedder": (("my_memory.py:embedding",), 0, [], ["concurrent"]),
}


@pytest.fixture(scope="module")
def checked(command):
    return dict(
        zip(CHECKED, command.all([("check-memory", *asked, "--json") for asked, *_ in CHECKED.values()]), strict=True)
    )


@pytest.mark.parametrize("case", CHECKED)
def test_every_bridge(case, checked):
    _, code, broken, open_ones = CHECKED[case]
    finished = checked[case]
    assert finished.returncode == code, finished.stderr
    report = CheckReport.model_validate_json(finished.stdout)
    assert [result.name for result in report.results if result.holds is False] == broken
    assert [result.name for result in report.results if result.holds is None] == open_ones
    assert len(report.results) == RULES
    assert report.holds is (not broken)
    if broken:
        assert f"cannot be measured as it is: {', '.join(broken)}." in finished.stderr
    assert report.memory.name == ("bm25" if case == "bm25" else "mine")


def test_what_a_broken_call_says_is_in_the_report(checked):
    report = json.loads(checked["a file that fails"].stdout)
    (result,) = [result for result in report["results"] if result["holds"] is False]
    assert "an empty query" in result["reason"]
    assert "ValueError: no query (my_memory.py:" in result["reason"]
    assert result["example"]["call"] == 'search("", limit=20)'
    dies = json.loads(checked["a command that dies"].stdout)
    (result,) = [result for result in dies["results"] if result["holds"] is False]
    assert "With a NUL character: " in result["reason"]
    assert "exit code 3" in result["reason"]


REFUSED = {
    "no memory": (("check-memory",), ["SPEC"]),
    "an unknown memory": (("check-memory", "epsiodic"), ["Did you mean episodic?"]),
    "an absent file": (("check-memory", "mine.py:Memory"), ["mine.py"]),
    "an option it does not take": (("check-memory", "my_memory.py:Memory", OPTION, "k=3"), ["k"]),
    "an option without a value": (("check-memory", "bm25", OPTION, "b"), ["expected name=value"]),
    "an option twice": (("check-memory", "bm25", OPTION, "b=0", OPTION, "b=1"), ["b is given twice"]),
    "a persistent one": (("check-memory", "my_memory.py:Memory", OPTION, "flaw=persistent"), ["--allow-persistent"]),
    "the name of another": (("check-memory", "my_memory.py:Memory", OPTION, "flaw=name"), ["its name is bm25"]),
    "a model for one without": (("check-memory", "bm25", "--model", "all-minilm-l6-v2"), ["uses no embedder"]),
    "an unknown model": (("check-memory", "episodic", "--model", "minilm"), ["minilm"]),
    "an interpreter for a command": (("check-memory", LINES, "--memory-python", "python3"), ["--memory-python"]),
    "no time": (("check-memory", "bm25", "--memory-timeout", "0"), ["--memory-timeout"]),
}


@pytest.fixture(scope="module")
def refused(command):
    return dict(zip(REFUSED, command.all([asked for asked, _ in REFUSED.values()]), strict=True))


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_usage_is_told(case, refused):
    finished = refused[case]
    assert finished.returncode == 2, finished.stderr
    for words in REFUSED[case][1]:
        assert words in finished.stderr
    assert finished.stdout == ""


def test_the_table_has_a_line_a_rule_and_shows_what_is_broken(command):
    good, broken = command.all(
        [("check-memory", "my_memory.py:Memory"), ("check-memory", "my_memory.py:Memory", OPTION, "flaw=limit")]
    )
    assert good.returncode == 0
    lines = good.stdout.splitlines()
    assert lines[0] == "my_memory.py:Memory: mine 7, mine"
    assert lines[1].split() == ["rule", "holds", "why"]
    assert sum(line.split()[1:2] == ["yes"] for line in lines[2:]) == RULES - 1
    assert lines[-1] == "16 rules held, 0 broken, 1 not judged"
    assert "a word of mine" not in good.stdout
    assert broken.returncode == 1
    assert "limit       NO     A search for at most 1 gave 24." in broken.stdout
    assert '  search("Astronomers photographed seven moons orbiting Saturn", limit=1)\n  -> 24 hits: ' in broken.stdout
    assert broken.stdout.splitlines()[-1] == "15 rules held, 1 broken, 1 not judged"


# Over HTTP.


class Service(BaseHTTPRequestHandler):
    """The five calls over a memory that the server holds."""

    protocol_version = "HTTP/1.1"
    # An answer goes out in one piece: in two, the second waits for the acknowledgement of the first.
    wbufsize = -1

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, answer = 200, self.answer(self.path.rpartition("/v1/")[2], body)
        except KeyError as missing:
            status, answer = 404, {"error": f"no pool {missing}"}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def answer(self, call, body):
        stores = self.server.stores
        if call == "describe":
            flawed = body["options"].get("flaw")
            self.server.shared = flawed == "shared"
            return {"name": "service", "version": "1", "ephemeral": True, "concurrency": 4}
        if call == "open":
            stores[body["pool"]] = []
            return {}
        if call == "close":
            del stores[body["pool"]]
            return {}
        own = stores[body["pool"]]
        if call == "write":
            own += [(unit["id"], set(unit["text"].split())) for unit in body["units"]]
            return {"receipts": ["stored"] * len(body["units"])}
        units = [unit for store in stores.values() for unit in store] if self.server.shared else own
        asked = set(body["query"].split())
        hits = [{"unit": name, "score": float(len(asked & words))} for name, words in units]
        return {"hits": sorted(hits, key=lambda hit: -hit["score"])[: body["limit"]]}

    def log_message(self, *arguments):
        pass


@pytest.fixture
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    server.stores, server.shared = {}, False
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_service(service, command):
    address = f"http://127.0.0.1:{service.server_port}/memory"
    finished = command("check-memory", address, "--json")
    assert finished.returncode == 0, finished.stdout
    report = CheckReport.model_validate_json(finished.stdout)
    assert [result.name for result in report.results if result.holds is None] == []
    assert "cannot be seen from here" in report.results[-1].reason
    assert service.stores == {}
    finished = command("check-memory", address, OPTION, "flaw=shared", "--json")
    assert finished.returncode == 1
    assert [result.name for result in CheckReport.model_validate_json(finished.stdout).broken] == ["isolated"]


def test_a_service_that_is_not_there_is_a_broken_rule_and_no_traceback(command):
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        port = server.server_port
    finished = command("check-memory", f"http://127.0.0.1:{port}", "--json")
    assert finished.returncode == 1
    report = CheckReport.model_validate_json(finished.stdout)
    assert report.memory is None
    assert [result.name for result in report.broken] == ["describe"]
    assert "no connection" in report.results[0].reason
    assert all(result.holds is None for result in report.results[1:])
