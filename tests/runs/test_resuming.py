"""A run that is killed and started again repeats nothing that was finished, and comes to the same bytes."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path
from membench.errors import MemoryCallError
from membench.files.paths import unfinished_dir, vectors_dir
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

READING = Reading(part=Slice(instances=4))

# Kills its own process when so many queries were searched, or so many turns written: no handler, no clean-up.
KILLED = """
import os, signal, sys
from contextlib import nullcontext
from pathlib import Path
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

root, reports, memory, phase, after = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])

class Killing:
    left = after
    def phase(self, name, arm):
        return nullcontext()
    def advance(self, name, amount):
        if name == phase:
            self.left -= amount
            if self.left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

request = Request("sample", reading=Reading(part=Slice(instances=4)), memory=memory, timelines=("now", "anchored"))
run_retrieval(request, root=root, report_dir=reports, command=[], observer_for=lambda *_: Killing())
"""


def request(memory="bm25", **asked):
    return Request("sample", reading=READING, memory=memory, timelines=("now", "anchored"), **asked)


def run(root: Path, reports: Path, **asked):
    return run_retrieval(request(**asked), root=root, report_dir=reports, command=[], observer_for=lambda *_: Silent())


def killed(root: Path, reports: Path, memory: str, phase: str, after: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), str(reports), memory, phase, str(after)], check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL
    assert not list(reports.glob("*"))


def measurements(reports: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in reports.iterdir()
        if not path.name.endswith((".provenance.json", ".md"))
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, bytes]:
    """What a run in one go writes."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder / "cache", folder / "reports")
    return measurements(folder / "reports")


def searches(pools: float) -> int:
    """How many queries are searched in so many pools: both arms have one for each instance, in turn."""
    counts = [
        sum(query.scorable for query in instance.queries)
        for instance in open_corpus("sample", Path(), READING).instances()
        for _ in range(2)
    ]
    return sum(counts[: int(pools)]) + int(counts[int(pools)] * (pools % 1))


@pytest.mark.parametrize("finished", [0.5, 1.5, 5.5, 7.5])
def test_finished_instances_are_not_measured_again(finished, whole, tmp_path):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    reports.mkdir()
    killed(root, reports, "bm25", "search", searches(finished))
    outcomes = run(root, reports)
    assert [outcome.provenance.resumed for outcome in outcomes] == [(int(finished) + 1) // 2, int(finished) // 2]
    assert measurements(reports) == whole
    assert not list(unfinished_dir(root).iterdir())


def test_killed_twice(whole, tmp_path):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    reports.mkdir()
    for _ in range(2):
        killed(root, reports, "bm25", "search", searches(2.5))
    outcomes = run(root, reports)
    assert sum(outcome.provenance.resumed for outcome in outcomes) == 4
    assert measurements(reports) == whole


def test_a_run_that_ended_well_leaves_nothing_to_go_on_with(tmp_path):
    for _ in range(2):
        outcomes = run(tmp_path / "cache", tmp_path / "reports")
        assert [outcome.provenance.resumed for outcome in outcomes] == [0, 0]


@pytest.mark.parametrize("asked", [{"limit": 10}, {"memory_options": {"k1": "2"}}, {"resume": False}])
def test_another_arm_goes_on_with_nothing(asked, tmp_path):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    reports.mkdir()
    killed(root, reports, "bm25", "search", searches(2.5))
    outcomes = run(root, reports, **asked)
    assert [outcome.provenance.resumed for outcome in outcomes] == [0, 0]


DAMAGE = {
    "cut": lambda data: data[:-7],
    "no JSON": lambda data: data[:200] + b"x" + data[201:],
    "another number": lambda data: data.replace(b'"session_observed":', b'"session_observed":1', 1),
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_journal_is_measured_again_from_there(damage, whole, tmp_path):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    reports.mkdir()
    killed(root, reports, "bm25", "search", searches(4.5))
    for path in unfinished_dir(root).iterdir():
        path.write_bytes(damage(path.read_bytes()))
    outcomes = run(root, reports)
    assert sum(outcome.provenance.resumed for outcome in outcomes) < 4
    assert measurements(reports) == whole


def test_a_memory_of_the_callers_own_begins_anew_unless_it_is_asked_to(tmp_path, monkeypatch):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    (tmp_path / "kept.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FAILS", "yes")
    with pytest.raises(MemoryCallError):
        run(root, reports, memory="kept:make")
    monkeypatch.delenv("FAILS")
    assert [one.provenance.resumed for one in run(root, reports, memory="kept:make")] == [0, 0]
    monkeypatch.setenv("FAILS", "yes")
    with pytest.raises(MemoryCallError):
        run(root, reports, memory="kept:make")
    monkeypatch.delenv("FAILS")
    assert [one.provenance.resumed for one in run(root, reports, memory="kept:make", resume=True)] == [3, 3]


def test_a_file_of_python_that_was_changed_is_measured_anew(tmp_path, monkeypatch):
    root, reports, file = tmp_path / "cache", tmp_path / "reports", tmp_path / "mine.py"
    for code, resumed in ((OWN, [3, 3]), (OWN.replace("-float(place)", "-2 * float(place)"), [0, 0])):
        file.write_text(OWN)
        monkeypatch.setenv("FAILS", "yes")
        with pytest.raises(MemoryCallError):
            run(root, reports, memory=f"{file}:make")
        monkeypatch.delenv("FAILS")
        file.write_text(code)
        outcomes = run(root, reports, memory=f"{file}:make", resume=True)
        assert [one.provenance.resumed for one in outcomes] == resumed


OWN = """
import os

class Memory:
    def describe(self):
        return {"name": "kept", "version": "1", "ephemeral": True}
    def open(self, pool):
        if os.environ.get("FAILS") and pool == "p4":
            raise RuntimeError("no room")
        return Store()

class Store:
    def __init__(self):
        self.units = []
    def write(self, units):
        self.units += units
        return [{"status": "stored"} for _ in units]
    def search(self, query, limit, as_of):
        return [{"unit": unit.id, "score": -float(place)} for place, unit in enumerate(self.units[:limit])]
    def close(self):
        pass

def make():
    return Memory()
"""


@pytest.mark.slow
def test_finished_embeddings_are_not_repeated(default_model, tmp_path):
    root, reports = tmp_path / "cache", tmp_path / "reports"
    reports.mkdir()
    place = model_path(MODELS[DEFAULT_MODEL], root)
    place.parent.mkdir(parents=True)
    place.symlink_to(default_model)
    killed(root, reports, "episodic", "ingest", 300)
    (vectors,) = vectors_dir(root).glob("*.sqlite")
    with sqlite3.connect(vectors) as connection:
        (kept,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    assert kept >= 64
    first = run(root, reports, memory="episodic")[0]
    with sqlite3.connect(vectors) as connection:
        (there,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    assert first.provenance.embedding.computed == there - kept
    run(root, tmp_path / "again", memory="episodic", resume=False)
    assert measurements(reports) == measurements(tmp_path / "again")
