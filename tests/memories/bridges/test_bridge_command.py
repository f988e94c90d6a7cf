"""Commands that misbehave, as real processes."""

import json
import shlex
import sys
import threading
import time

import pytest

from membench.errors import MemoryCallError, UsageError
from membench.memories.bridges.messages import VERSION
from membench.memories.protocol import Hit, Receipt, Unit
from membench.memories.spec import open_memory

WELL = """
stores = {}
while True:
    asked = call()
    if asked["call"] == "describe":
        say(asked["id"], result={"name": "own", "version": "1", "settings": asked["options"], "concurrency": 8})
    elif asked["call"] == "open":
        stores[asked["pool"]] = []
        say(asked["id"], result={})
    elif asked["call"] == "write":
        stores[asked["pool"]] += [unit["id"] for unit in asked["units"]]
        receipts = [{"status": "duplicate", "reason": "seen"}] + ["stored"] * (len(asked["units"]) - 1)
        say(asked["id"], result={"receipts": receipts})
    elif asked["call"] == "search":
        found = stores[asked["pool"]][:asked["limit"]]
        say(asked["id"], result={"hits": [{"unit": one, "score": 1 - n / 10} for n, one in enumerate(found)]})
    else:
        say(asked["id"], result={})
"""


def opened(spec, timeout=10.0, options=None):
    return open_memory(spec, options or {}, None, timeout=timeout)


def search_fault(spec, timeout=10.0):
    """What is told of a search in an open store."""
    with pytest.raises(MemoryCallError) as caught, opened(spec, timeout) as memory:
        memory.open("p1").search("which?", 3, None)
    return str(caught.value)


def test_the_five_calls_of_a_good_one(command, units):
    with opened(command(WELL), options={"k": "3"}) as memory:
        told = memory.describe()
        store = memory.open("p1")
        receipts = store.write(units)
        hits = store.search("which?", 2, units[1].time)
        store.close()
    assert (told.name, told.version, told.backend, told.settings) == ("own", "1", "own", {"k": "3"})
    assert told.own
    assert not told.ephemeral
    assert not told.embeds
    assert told.concurrency == 8
    assert receipts == [Receipt("duplicate", "seen"), Receipt("stored"), Receipt("stored")]
    assert hits == [Hit(1.0, "u0"), Hit(0.9, "u1")]


def test_it_is_told_the_version_and_what_was_said_as_one_line(command, tmp_path):
    spec = command(
        f"""
        with open({str(tmp_path / "seen")!r}, "w") as seen:
            while True:
                asked = call()
                seen.write(json.dumps(asked) + "\\n")
                seen.flush()
                results = {{"describe": {{"name": "own", "version": "1"}}, "write": {{"receipts": ["stored"]}}}}
                say(asked["id"], result=results.get(asked["call"], {{}}))
        """
    )
    odd = "a\u2028b\u2029c\nd\r\u0085 \U0001f600 \u05d0"
    with opened(spec) as memory:
        memory.open("p1").write([Unit("u1", "s1", odd, None)])
    asked = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert [one["call"] for one in asked] == ["describe", "open", "write"]
    assert {one["membench"] for one in asked} == {VERSION}
    assert asked[2]["units"] == [{"id": "u1", "session": "s1", "text": odd, "time": None}]


def test_no_line_ends_where_another_language_would_end_it(command, tmp_path):
    spec = command(
        f"""
        begin()
        line = sys.stdin.buffer.readline()
        open({str(tmp_path / "line")!r}, "wb").write(line)
        say(3, result={{"receipts": ["stored"]}})
        call()
        """
    )
    with opened(spec) as memory:
        memory.open("p1").write([Unit("u1", "s1", "a\u2028b\u2029c", None)])
    line = (tmp_path / "line").read_bytes()
    assert b"a\\u2028b\\u2029c" in line
    assert len(line.decode().splitlines()) == 1


def test_more_units_than_a_write_may_have_are_several_writes(command):
    with opened(command(WELL)) as memory:
        store = memory.open("p1")
        receipts = store.write([Unit(f"u{n}", "s1", "text", None) for n in range(600)])
        assert len(store.search("text", 600, None)) == 600
    assert [n for n, receipt in enumerate(receipts) if receipt.status == "duplicate"] == [0, 256, 512]


ANSWERS = {
    "NaN": ("{'hits': [{'unit': 'u', 'score': float('nan')}]}", "hits.0.score should be a finite number, found nan"),
    "Infinity": ("{'hits': [{'unit': 'u', 'score': -float('inf')}]}", "hits.0.score should be a finite number"),
    "a string": ("{'hits': [{'unit': 'u', 'score': '0.5'}]}", "hits.0.score should be a valid number, found '0.5'"),
    "a truth": ("{'hits': [{'unit': 'u', 'score': True}]}", "hits.0.score should be a valid number, found True"),
    "a number as id": ("{'hits': [{'unit': 7, 'score': 1}]}", "hits.0.unit should be a valid string, found 7"),
    "an unknown field": (
        "{'hits': [{'unit': 'u', 'score': 1, 'scroe': 1}]}",
        "hits.0.scroe is no field of the contract",
    ),
    "no name": ("{'hits': [{'score': 1}]}", "hits.0 a hit has neither a unit nor a text"),
    "no score": ("{'hits': [{'unit': 'u'}]}", "hits.0.score is missing"),
    "no list": ("{'hits': 'u1'}", "hits should be a valid list, found 'u1'"),
    "no hits": ("{}", "hits is missing"),
    "no object": ("[]", "the answer should be an object, found []"),
}


@pytest.mark.parametrize(("result", "told"), ANSWERS.values(), ids=ANSWERS)
def test_a_malformed_answer_is_named_by_its_field(command, result, told):
    fault = search_fault(command(f"begin()\nsay(call()['id'], result={result})\ncall()"))
    assert told in fault
    assert ", search: " in fault
    assert '{"hits": [{"unit": "u1", "score": 0.83}]}' in fault


RECEIPTS = {
    "too few": ("['stored']", "expected 3 receipts, one a unit, found 1"),
    "too many": ("['stored'] * 4", "expected 3 receipts, one a unit, found 4"),
    "unknown": (
        "['stored', 'kept', 'stored']",
        "receipts.1 should be 'stored', 'duplicate' or 'refused' or should be an object, found 'kept'",
    ),
    "unknown inside": ("[{'status': 'ok'}] * 3", "receipts.0.status should be 'stored', 'duplicate' or 'refused'"),
    "a field": ("[{'status': 'stored', 'why': ''}] * 3", "receipts.0.why is no field of the contract"),
}


@pytest.mark.parametrize(("receipts", "told"), RECEIPTS.values(), ids=RECEIPTS)
def test_receipts_have_to_be_one_a_unit(command, units, receipts, told):
    spec = command(f"begin()\nsay(call()['id'], result={{'receipts': {receipts}}})\ncall()")
    with pytest.raises(MemoryCallError, match="write: ") as caught, opened(spec) as memory:
        memory.open("p1").write(units)
    assert told in str(caught.value)


LINES = {
    "a banner": ("print('Loading the model')", "a line that is no JSON", "b'Loading the model'"),
    "an empty line": ("print()", "a line that is no JSON", "b''"),
    "invalid UTF-8": (r"sys.stdout.buffer.write(b'{\"id\": 3, \"result\": \"\xff\"}\n')", "no JSON", "xff"),
    "no object": ("print('[1]')", "no JSON object", "b'[1]'"),
    "another id": ("say(77, result={})", "answered id 77, which was not asked", "not yet answered: 3"),
    "an id twice": ("say(2, result={})", "answered id 2, which was not asked", "not yet answered: 3"),
    "no id": ("print('{\"result\": {}}')", "without the id of its call", "result"),
    "an id that is none": ("say(True, result={})", "without the id of its call", "true"),
    "result and error": ("say(3, result={}, error='x')", "not just an id and either", "error"),
    "neither": ("say(3)", "not just an id and either", "3"),
    "an error that is none": ("say(3, error={'a': 1})", "an error that is no string", "'"),
}


@pytest.mark.parametrize(("line", "told", "shown"), LINES.values(), ids=LINES)
def test_a_line_that_is_no_answer_ends_it(command, line, told, shown):
    fault = search_fault(command(f"begin()\ncall()\n{line}\nsys.stdout.flush()\ncall()"))
    assert told in fault
    assert shown in fault
    assert "Standard output is for answers alone" in fault


def test_an_answer_before_the_question_is_none(command):
    spec = command("say(1, result={'name': 'own', 'version': '1'})\ntime.sleep(30)")
    with pytest.raises(MemoryCallError, match=r"answered id 1, which was not asked"), opened(spec) as memory:
        time.sleep(1)
        memory.describe()


def test_an_error_is_told_and_the_memory_goes_on(command):
    spec = command(
        "begin()\nsay(call()['id'], error='the index is full')\nsay(call()['id'], result={'hits': []})\ncall()"
    )
    with opened(spec) as memory:
        store = memory.open("p1")
        with pytest.raises(MemoryCallError, match="search: the index is full"):
            store.search("which?", 3, None)
        assert store.search("which?", 3, None) == []


EXITS = {
    "at once": ("sys.exit(3)", "ended with exit code 3"),
    "at once, content": ("sys.exit(0)", "ended with exit code 0"),
    "in the middle of a call": ("begin()\ncall()\nos._exit(5)", "ended with exit code 5"),
    "early": ("begin()\nsys.exit(0)", "ended with exit code 0"),
    "by a signal": ("begin()\ncall()\nos.kill(os.getpid(), signal.SIGKILL)", "ended by signal 9"),
    "after half a line": (
        'begin()\ncall()\nsys.stdout.write(\'{"id": 3, "resu\')\nsys.stdout.flush()\nos._exit(1)',
        'ended in the middle of a line: b\'{"id": 3, "resu\'',
    ),
}


@pytest.mark.parametrize(("script", "told"), EXITS.values(), ids=EXITS)
def test_an_exit_before_the_end_is_told_with_what_it_said(command, script, told):
    script = f"sys.stderr.write('first\\n\\x1b[31m::error::no \\xe9 disk\\n')\nsys.stderr.flush()\n{script}"
    fault = search_fault(command(script))
    assert told in fault
    assert "  | first" in fault
    assert "\x1b" not in fault
    assert not any(line.lstrip().startswith("::") for line in fault.splitlines())


def test_half_a_line_and_then_nothing_is_overdue(command):
    begun = time.monotonic()
    fault = search_fault(command("begin()\ncall()\nsys.stdout.write('{')\nsys.stdout.flush()\ntime.sleep(60)"), 1.0)
    assert "no answer within 1 s" in fault
    assert time.monotonic() - begun < 8


def test_after_a_time_out_nothing_more_is_asked(command):
    with opened(command("begin()\ntime.sleep(60)"), 1.0) as memory:
        store = memory.open("p1")
        for _ in range(3):
            with pytest.raises(MemoryCallError, match="search: no answer within 1 s"):
                store.search("which?", 3, None)
        begun = time.monotonic()
        with pytest.raises(MemoryCallError, match="close: no answer within 1 s"):
            store.close()
        assert time.monotonic() - begun < 0.5


def test_one_that_does_not_read_is_overdue_too(command):
    units = [Unit(f"u{n}", "s1", "x" * 100_000, None) for n in range(100)]
    with (
        pytest.raises(MemoryCallError, match="write: no answer within 1 s"),
        opened(command("begin()\ntime.sleep(60)"), 1.0) as memory,
    ):
        memory.open("p1").write(units)


def test_a_flood_of_errors_blocks_nothing_and_is_not_kept(command):
    spec = command(
        """
        begin()
        asked = call()
        for _ in range(200):
            os.write(2, b"x" * 1_000_000)
        os.write(2, b"the last words")
        say(asked["id"], result={"hits": []})
        asked = call()
        os._exit(4)
        """
    )
    with opened(spec, 60.0) as memory:
        store = memory.open("p1")
        assert store.search("which?", 3, None) == []
        with pytest.raises(MemoryCallError, match="ended with exit code 4") as caught:
            store.search("which?", 3, None)
    assert str(caught.value).splitlines()[-2].endswith("the last words")
    assert len(str(caught.value)) < 5000


def test_a_line_without_an_end_is_refused_while_it_comes(command):
    fault = search_fault(
        command("begin()\ncall()\nsys.stdout.write('[' * 50_000_000)\nsys.stdout.flush()\ncall()"), 30.0
    )
    assert "wrote a line of more than 16,777,216 bytes" in fault


def test_a_closed_output_is_told_at_once(command):
    fault = search_fault(command("begin()\ncall()\nos.close(1)\ntime.sleep(60)"))
    assert "closed its standard input or output before the run ended" in fault


def test_an_exit_is_seen_where_a_child_holds_the_output(command, tmp_path, is_gone):
    script = f"""
    import subprocess
    begin()
    child = subprocess.Popen(["sleep", "60"])
    open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
    call()
    os._exit(6)
    """
    begun = time.monotonic()
    assert "ended with exit code 6" in search_fault(command(script), 30.0)
    assert time.monotonic() - begun < 10
    assert is_gone((tmp_path / "pid").read_text())


def test_what_it_has_started_ends_with_it(command, tmp_path, is_gone):
    script = f"""
    import subprocess
    child = subprocess.Popen(["sleep", "60"])
    open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
    begin()
    call()
    """
    with opened(command(script)) as memory:
        memory.open("p1")
    assert is_gone((tmp_path / "pid").read_text())


@pytest.mark.slow
def test_one_that_ignores_its_end_is_killed(command, tmp_path, is_gone):
    script = f"""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    begin()
    while True:
        time.sleep(60)
    """
    begun = time.monotonic()
    with opened(command(script)) as memory:
        memory.open("p1")
    assert 6 < time.monotonic() - begun < 15
    assert is_gone((tmp_path / "pid").read_text())


def test_it_has_time_to_end_by_itself(command, tmp_path):
    with opened(command(f"begin()\nsys.stdin.read()\ntime.sleep(1)\nopen({str(tmp_path / 'done')!r}, 'w')")) as memory:
        memory.open("p1")
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_what_ends_the_run_ends_it_without_waiting(command, error):
    begun = time.monotonic()
    with pytest.raises(error), opened(command("begin()\ntime.sleep(60)")) as memory:
        memory.open("p1")
        raise error
    assert time.monotonic() - begun < 4


def test_searches_are_outstanding_together_and_found_by_id(command):
    """It answers only when it has all of them, the last first: one at a time would never end."""
    spec = command(
        """
        begin(concurrency=8)
        for asked in reversed([call() for _ in range(8)]):
            say(asked["id"], result={"hits": [{"unit": asked["query"], "score": 1}]})
        call()
        """
    )
    found = {}
    with opened(spec) as memory:
        store = memory.open("p1")
        threads = [
            threading.Thread(target=lambda n=n: found.update({n: store.search(f"q{n}", 3, None)})) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(15)
    assert found == {n: [Hit(1.0, f"q{n}")] for n in range(8)}


def test_all_that_wait_are_told_when_it_ends(command):
    faults = []
    with opened(command("begin(concurrency=4)\n[call() for _ in range(4)]\nos._exit(9)")) as memory:
        store = memory.open("p1")

        def search():
            with pytest.raises(MemoryCallError) as caught:
                store.search("which?", 3, None)
            faults.append(str(caught.value))

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert len(faults) == 4
    assert all("ended with exit code 9" in fault for fault in faults)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("cmd:no-such-command --fast", "cannot be started: no-such-command: No such file or directory"),
        ("cmd:/etc", "cannot be started: /etc: Permission denied"),
        ("cmd:", "names no command"),
        ("cmd:  ", "names no command"),
        ("cmd:node 'memory.mjs", "is no command: No closing quotation"),
    ],
)
def test_a_command_that_is_none_is_wrong_usage(spec, told):
    with pytest.raises(UsageError) as caught, opened(spec):
        pass
    assert told in str(caught.value)
    assert caught.value.remedy


def test_text_that_cannot_be_written_as_utf_8_is_told(command):
    with opened(command(WELL)) as memory, pytest.raises(MemoryCallError, match="write: a text cannot be sent"):
        memory.open("p1").write([Unit("u1", "s1", "half \ud83d", None)])


def test_it_runs_in_the_working_folder_with_the_environment(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OWN_WORD", "hello")
    spec = command("say(call()['id'], result={'name': os.environ['OWN_WORD'], 'version': os.getcwd()})\ncall()")
    with opened(spec) as memory:
        told = memory.describe()
    assert (told.name, told.version) == ("hello", str(tmp_path))


def test_no_shell_reads_it(tmp_path):
    spec = f"cmd:{shlex.quote(sys.executable)} -c 'raise SystemExit(7)' ; touch {tmp_path / 'made'}"
    with pytest.raises(MemoryCallError, match="exit code 7"), opened(spec) as memory:
        memory.describe()
    assert list(tmp_path.iterdir()) == []
