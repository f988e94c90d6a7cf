"""Python memories of the caller's own, in this interpreter and in one of their own."""

import ast
import signal
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

from membench.embedding.toy import ToyEmbedder
from membench.errors import MemoryCallError, UsageError
from membench.memories.bridges import serve
from membench.memories.protocol import Hit, Receipt
from membench.memories.spec import open_memory, wants_embedder

WELL = """
class Memory:
    def __init__(self, k="2", colour="red"):
        self.k, self.colour = int(k), colour
    def describe(self):
        return {"name": "own", "version": "1", "settings": {"k": self.k, "colour": self.colour}, "honours_as_of": True}
    def open(self, pool):
        return Store(pool)

class Store:
    def __init__(self, pool):
        self.pool, self.units = pool, []
    def write(self, units):
        print("printed")
        self.units += units
        return ["stored"] * len(units)
    def search(self, query, limit, as_of):
        return [(unit.id, 1 - place / 10) for place, unit in enumerate(self.units)][:limit]
    def close(self):
        self.units = None
"""
BROKEN = """
class Memory:
    def describe(self):
        return {{"name": "own", "version": "1"}}
    def open(self, pool):
        return Store()

class Store:
    def write(self, units):
        {write}
    def search(self, query, limit, as_of):
        {search}
    def close(self):
        pass
"""

IN_PROCESS = None
OWN_INTERPRETER = sys.executable
both = pytest.mark.parametrize("python", [IN_PROCESS, OWN_INTERPRETER], ids=["in process", "own interpreter"])


def broken(search="return []", write="return ['stored'] * len(units)"):
    return BROKEN.format(write=write, search=search)


def opened(spec, options=None, python=None, timeout=10.0, embedder=None):
    return open_memory(spec, options or {}, embedder, python=python, timeout=timeout)


def search_fault(spec, python=None, timeout=10.0):
    with pytest.raises(MemoryCallError) as caught, opened(spec, python=python, timeout=timeout) as memory:
        memory.open("p1").search("which?", 3, None)
    return str(caught.value)


@both
def test_the_five_calls_of_a_good_one(python_file, units, python, capfd):
    with opened(f"{python_file(WELL)}:Memory", {"k": "3"}, python) as memory:
        told = memory.describe()
        store = memory.open("p1")
        assert store.write(units) == [Receipt("stored")] * 3
        assert store.search("which?", 2, datetime(2024, 1, 1)) == [Hit(1.0, "u0"), Hit(0.9, "u1")]
        store.close()
    assert (told.name, told.version, told.backend, told.settings) == ("own", "1", "own", {"k": 3, "colour": "red"})
    assert (told.own, told.ephemeral, told.honours_as_of, told.embeds, told.concurrency) == (
        True,
        False,
        True,
        False,
        1,
    )
    assert capfd.readouterr().out == ""


@both
@pytest.mark.parametrize("form", ["own_memory.py:Memory", "./own_memory.py:Memory", "own_memory:Memory", "{}:Memory"])
def test_a_file_a_module_and_a_path(python_file, tmp_path, form, python):
    python_file(WELL)
    with opened(form.format(tmp_path / "own_memory.py"), python=python) as memory:
        assert memory.describe().name == "own"


@both
def test_a_module_of_a_package_and_an_attribute_of_an_attribute(python_file, python):
    python_file("", "own_package/__init__.py")
    python_file(
        f"{WELL}\nclass Factories:\n    make = staticmethod(lambda k='5': Memory(k))\n", "own_package/inside.py"
    )
    with opened("own_package.inside:Factories.make", python=python) as memory:
        assert memory.describe().settings["k"] == 5


@both
def test_a_file_elsewhere_imports_what_lies_beside_it(python_file, python):
    python_file(
        "class Base:\n    def describe(self):\n        return {'name': 'beside', 'version': '1'}\n",
        "deep/own_beside.py",
    )
    python_file("from own_beside import Base\nclass Memory(Base):\n    def open(self, pool): ...\n", "deep/own_deep.py")
    with opened("deep/own_deep.py:Memory", python=python) as memory:
        assert memory.describe().name == "beside"
    assert not [folder for folder in sys.path if folder.endswith("deep")]


def test_a_file_with_the_name_of_a_module_takes_nothing_from_it(python_file):
    python_file(WELL, "json.py")
    with opened("json.py:Memory") as memory:
        assert memory.describe().name == "own"
    import json

    assert json.loads("{}") == {}


@both
def test_units_are_as_written_and_answers_may_be_objects(python_file, units, python):
    path = python_file(
        """
        from datetime import datetime
        from types import SimpleNamespace as Object
        def factory():
            return Object(describe=lambda: Object(name="own", version="1", settings=None), open=lambda pool: Store())
        class Store:
            def write(self, units):
                assert [type(unit.time) for unit in units] == [type(None), datetime, type(None)]
                assert [unit.session for unit in units] == ["s1"] * 3
                yield Object(status="refused", reason="blank")
                yield {"status": "stored", "displaced": ["u9"]}
                yield "duplicate"
            def search(self, query, limit, as_of):
                assert as_of is None or isinstance(as_of, datetime)
                yield Object(score=3, unit="u1")
                yield {"score": 2.5, "text": "as written"}
                yield ["u0", 1]
            def close(self): ...
        """
    )
    with opened(f"{path}:factory", python=python) as memory:
        store = memory.open("p1")
        receipts = store.write(units)
        hits = store.search("which?", 3, datetime(2024, 1, 1))
    assert receipts == [Receipt("refused", "blank"), Receipt("stored", displaced=("u9",)), Receipt("duplicate")]
    assert hits == [Hit(3.0, "u1"), Hit(2.5, text="as written"), Hit(1.0, "u0")]
    assert {type(hit.score) for hit in hits} == {float}


def test_numbers_of_numpy_are_numbers(python_file):
    path = python_file("import numpy as np\n" + broken("return [('u0', np.float32(0.5)), ('u1', np.int64(2))]"))
    with opened(f"{path}:Memory") as memory:
        assert memory.open("p1").search("which?", 3, None) == [Hit(0.5, "u0"), Hit(2.0, "u1")]


NOT_USABLE = {
    "no file": (None, "own_memory.py:Memory", "there is no file "),
    "no module": (None, "own_absent:Memory", "No module named 'own_absent'"),
    "syntax": ("class Memory:\n    def", "own_memory.py:Memory", "SyntaxError: invalid syntax (own_memory.py:2)"),
    "a missing package": ("import os\nimport own_absent\n", "own_memory.py:Memory", "(own_memory.py:2)"),
    "an error on import": (
        "x = 1\n1 / 0\n",
        "own_memory.py:Memory",
        "ZeroDivisionError: division by zero (own_memory.py:2)",
    ),
    "an exit on import": ("import sys\nsys.exit(0)\n", "own_memory.py:Memory", "SystemExit: 0 (own_memory.py:2)"),
    "no factory": (WELL, "own_memory.py:Memroy", "has no 'Memroy'; did you mean Memory?"),
    "no class": ("Memory = 7", "own_memory.py:Memory", "Memory is no class and no function but 7"),
    "a wrong option": (WELL, "own_memory.py:Memory", "unexpected keyword argument 'size'; it has ['k', 'colour']"),
    "a wrong signature": ("def Memory(a, b): ...", "own_memory.py:Memory", "missing a required argument: 'a'"),
    "no describe": ("class Memory:\n    def open(self): ...", "own_memory.py:Memory", "a Memory has no describe()"),
    "no open": ("class Memory:\n    def describe(self): ...", "own_memory.py:Memory", "a Memory has no open()"),
    "nothing": ("def Memory(): ...", "own_memory.py:Memory", "a NoneType has no describe()"),
}


@both
@pytest.mark.parametrize(("text", "spec", "told"), NOT_USABLE.values(), ids=NOT_USABLE)
def test_what_cannot_be_used_is_named_with_its_cause(python_file, text, spec, told, python):
    if text is not None:
        python_file(text)
    options = {"size": "1"} if "size" in told else {}
    with pytest.raises((UsageError, MemoryCallError)) as caught, opened(spec, options, python) as memory:
        memory.describe()
    fault = str(caught.value)
    assert told in fault
    assert spec in fault
    assert "Traceback" not in fault
    if python is IN_PROCESS:
        assert isinstance(caught.value, UsageError)
        assert "--memory-python" in fault


def test_a_factory_that_raises_is_told_with_its_line(python_file):
    path = python_file(
        "class Memory:\n    def __init__(self, k):\n        self.k = int(k)\n    describe = open = print\n"
    )
    with (
        pytest.raises(MemoryCallError, match=r"its factory: ValueError: .*'many' \(own_memory.py:3\)"),
        opened(f"{path}:Memory", {"k": "many"}),
    ):
        pass


RAISING = {
    "an error": ("raise KeyError('index')", r"search: KeyError: 'index' (own_memory.py:12)"),
    "an exit": ("raise SystemExit(3)", r"search: SystemExit: 3 (own_memory.py:12)"),
    "deeper": ("import json; json.loads('x')", "(own_memory.py:12)"),
}


@both
@pytest.mark.parametrize(("search", "told"), RAISING.values(), ids=RAISING)
def test_what_a_call_raises_is_told_with_its_line(python_file, search, told, python):
    fault = search_fault(f"{python_file(broken(search))}:Memory", python)
    assert told in fault
    assert "Traceback" not in fault


ANSWERS = {
    "nothing": ("return None", "hits should be a valid list, found "),
    "a text": ("return 'u1'", "hits should be a valid list, found 'u1'"),
    "NaN": ("return [('u', float('nan'))]", "hits.0.score should be a finite number, found nan"),
    "a text as score": ("return [('u', '0.5')]", "hits.0.score should be a valid number, found '0.5'"),
    "a number as id": ("return [(7, 0.5)]", "hits.0.unit should be a valid string, found 7"),
    "three in a pair": ("return [('u', 0.5, 'x')]", "hits.0 should be an object, found "),
    "a dict": ("return {'hits': []}", "hits should be a valid list, found {'hits': []}"),
    "an object": ("return [object()]", "hits.0 should be an object"),
    "another field": ("return [{'id': 'u', 'score': 1}]", "hits.0.id is no field of the contract"),
}


@both
@pytest.mark.parametrize(("search", "told"), ANSWERS.values(), ids=ANSWERS)
def test_a_malformed_answer_is_named_by_its_field(python_file, search, told, python):
    assert told in search_fault(f"{python_file(broken(search))}:Memory", python)


def test_calls_that_await_are_told_as_what_they_gave(python_file):
    path = python_file(broken().replace("def search", "async def search"))
    assert "search() is async, and the calls are plain ones" in search_fault(f"{path}:Memory", sys.executable)


@both
def test_receipts_have_to_be_one_a_unit(python_file, units, python):
    path = python_file(broken(write="return ['stored']"))
    with (
        pytest.raises(MemoryCallError, match="expected 3 receipts, one a unit, found 1"),
        opened(f"{path}:Memory", python=python) as memory,
    ):
        memory.open("p1").write(units)


@both
def test_a_store_without_a_call_is_named(python_file, python):
    path = python_file(broken().replace("def close", "def shut"))
    with (
        pytest.raises(MemoryCallError, match=r"open: a Store has no close\(\), expected write, search, close"),
        opened(f"{path}:Memory", python=python) as memory,
    ):
        memory.open("p1")


IDENTITIES = {
    "a name of ours": ("{'name': 'episodic', 'version': '1'}", UsageError, "one that membench ships"),
    "no version": ("{'name': 'own'}", MemoryCallError, "version is missing"),
    "a number as version": (
        "{'name': 'own', 'version': 1}",
        MemoryCallError,
        "version should be a valid string, found 1",
    ),
    "an empty name": ("{'name': '', 'version': '1'}", MemoryCallError, "name should have at least 1 character"),
    "two lines": ("{'name': 'a\\nb', 'version': '1'}", MemoryCallError, "name should match pattern"),
    "many searches": (
        "{'name': 'o', 'version': '1', 'concurrency': 65}",
        MemoryCallError,
        "concurrency should be less",
    ),
    "no searches": (
        "{'name': 'o', 'version': '1', 'concurrency': 0}",
        MemoryCallError,
        "concurrency should be greater",
    ),
    "a list": ("{'name': 'o', 'version': '1', 'settings': {'a': [1]}}", MemoryCallError, "settings.a should be"),
    "a setting that is none": (
        "{'name': 'o', 'version': '1', 'settings': {'a': 1e999}}",
        MemoryCallError,
        "settings.a",
    ),
    "a misspelt field": ("{'name': 'o', 'version': '1', 'ephemral': True}", MemoryCallError, "ephemral is no field"),
    "nothing": ("None", MemoryCallError, "the answer should be an object, found None"),
}


@both
@pytest.mark.parametrize(("told", "kind", "fault"), IDENTITIES.values(), ids=IDENTITIES)
def test_an_identity_that_is_none_is_refused(python_file, told, kind, fault, python):
    path = python_file(broken().replace('{"name": "own", "version": "1"}', told))
    with pytest.raises(kind) as caught, opened(f"{path}:Memory", python=python) as memory:
        memory.describe()
    assert fault in str(caught.value)


HANGING = {
    "sleep": "time.sleep(60)",
    "loop": "\n        while True: pass",
    "stubborn": "\n        while True:\n            try: time.sleep(60)\n            except Exception: pass",
}


@pytest.mark.parametrize("hang", HANGING.values(), ids=HANGING)
def test_a_call_that_hangs_is_interrupted(python_file, hang):
    begun = time.monotonic()
    before = signal.getsignal(signal.SIGALRM)
    fault = search_fault(f"{python_file('import time' + broken(hang))}:Memory", timeout=0.3)
    assert "search: search took longer than 0.3 s" in fault
    assert "--memory-timeout" in fault
    assert time.monotonic() - begun < 3
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("place", ["import time; time.sleep(60)", "def Memory():\n    import time; time.sleep(60)"])
def test_a_factory_and_an_import_that_hang(python_file, place):
    path = python_file(place)
    with pytest.raises(MemoryCallError, match=r"took longer than 0.3 s"), opened(f"{path}:Memory", timeout=0.3):
        pass


def test_an_alarm_of_others_is_kept(python_file):
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with opened(f"{python_file(broken())}:Memory") as memory:
            store = memory.open("p1")
            until = time.monotonic() + 5
            while not rung and time.monotonic() < until:
                store.search("which?", 3, None)
                time.sleep(0.01)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_in_another_thread_a_call_that_hangs_is_left_behind(python_file):
    path = python_file(
        broken("import time, threading; seen.append(threading.current_thread()); time.sleep(2 * len(query))")
    )
    found = []
    with opened(f"{path}:Memory", timeout=0.5) as memory:
        store = memory.open("p1")
        seen = sys.modules["own_memory"].seen = []

        def ask():
            for query in ("", "", "x"):
                try:
                    found.append(store.search(query, 3, None))
                except MemoryCallError as error:
                    found.append(str(error).splitlines()[0])

        begun = time.monotonic()
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(5)
        assert time.monotonic() - begun < 1.9
    # None is no list: the first two came back, and in one thread.
    assert ["found None" in one for one in found] == [True, True, False]
    assert "took longer than 0.5 s" in found[2]
    assert seen[0] is seen[1]
    seen[2].join(5)
    assert not any(one.is_alive() for one in seen)


def test_the_embedder_goes_to_a_factory_that_asks_for_it(python_file):
    text = broken("return [('u', float(embedder.embed([query], 'query').vectors[0][0]))]").replace(
        "class Memory:\n",
        "class Memory:\n    def __init__(self, embedder, k='1'):\n        globals()['embedder'] = embedder\n",
    )
    path = python_file(text)
    assert wants_embedder(f"{path}:Memory")
    assert not wants_embedder(f"{path}:Memory", sys.executable)
    embedder = ToyEmbedder()
    with opened(f"{path}:Memory", embedder=embedder) as memory:
        assert memory.describe().embeds
        (hit,) = memory.open("p1").search("which?", 3, None)
    assert hit.score == pytest.approx(float(embedder.embed(["which?"], "query").vectors[0][0]))
    with pytest.raises(UsageError, match="embedder is no option of it"), opened(f"{path}:Memory", {"embedder": "x"}):
        pass


def test_an_error_of_the_embedder_stays_what_it_is(python_file):
    from membench.errors import ModelError

    path = python_file("from membench.errors import ModelError\n" + broken("raise ModelError('a null vector')"))
    with pytest.raises(ModelError, match="a null vector"), opened(f"{path}:Memory") as memory:
        memory.open("p1").search("which?", 3, None)


def test_an_interpreter_of_its_own_has_its_own_modules(python_file, own_environment):
    path = python_file(
        broken("import http.client, sys; return [(str('membench' in sys.modules), len(http.client.__name__))]")
    )
    with opened(f"{path}:Memory", python=sys.executable) as memory:
        assert memory.open("p1").search("which?", 3, None) == [Hit(11.0, "False")]


def test_an_interpreter_of_its_own_keeps_the_lines_clean(python_file):
    path = python_file(
        "import os, sys\nprint('banner')\n" + broken("os.write(1, b'raw'); return [(sys.stdin.read(), 1)]")
    )
    with opened(f"{path}:Memory", python=sys.executable) as memory:
        assert memory.open("p1").search("which?", 3, None) == [Hit(1.0, "")]


def test_an_interpreter_of_its_own_searches_together(python_file):
    text = broken("barrier.wait(10); return [(query, 1)]").replace('"version": "1"', '"version": "1", "concurrency": 4')
    path = python_file("import threading\nbarrier = threading.Barrier(4)\n" + text)
    found = {}
    with opened(f"{path}:Memory", python=sys.executable) as memory:
        store = memory.open("p1")
        threads = [
            threading.Thread(target=lambda n=n: found.update({n: store.search(f"q{n}", 3, None)})) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(15)
    assert found == {n: [Hit(1.0, f"q{n}")] for n in range(4)}


def test_an_interpreter_that_is_none_is_wrong_usage(python_file, tmp_path):
    with (
        pytest.raises(UsageError, match="cannot be started"),
        opened(f"{python_file(WELL)}:Memory", python=tmp_path / "none" / "python"),
    ):
        pass


def test_the_file_that_is_run_elsewhere_needs_the_standard_library_of_python_3_8_alone():
    text = Path(serve.__file__).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
