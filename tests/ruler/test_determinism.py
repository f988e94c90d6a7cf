"""With the real default model: a measurement is the same bytes, whatever ran beside it, before it, and when."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import membench
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

ARMS = ("now", "anchored")
READING = Reading(part=Slice(instances=2))

SCRIPT = """
import datetime, sys, time

if len(sys.argv) > 3:
    class Later(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2031, 2, 3, 4, 5, 6, tzinfo=tz)
        today = utcnow = now

    datetime.datetime = Later
    time.time = lambda: 1_927_857_906.0
    time.time_ns = lambda: 1_927_857_906_000_000_000

from pathlib import Path
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

request = Request("sample", reading=Reading(part=Slice(instances=2)), timelines=("now", "anchored"), workers=2)
root, reports = map(Path, sys.argv[1:3])
run_retrieval(request, root=root, report_dir=reports, command=["another"], observer_for=lambda *_: Silent())
"""


@pytest.fixture(scope="module")
def fresh_root(default_model, tmp_path_factory):
    """Makes cache folders that hold the model and nothing else."""

    def make():
        root = tmp_path_factory.mktemp("root")
        (root / "models").mkdir()
        (root / "models" / default_model.name).symlink_to(default_model)
        return root

    return make


def run(root, reports, timelines=ARMS, workers=1):
    """What provenance says of the first arm, and the bytes of every other file by name."""
    request = Request("sample", reading=READING, timelines=timelines, workers=workers)
    outcomes = run_retrieval(
        request, root=root, report_dir=reports, command=["membench"], observer_for=lambda *_: Silent()
    )
    return outcomes[0].provenance, files_of(reports)


def files_of(reports):
    files = {path.name: path.read_bytes() for path in reports.iterdir() if "provenance" not in path.name}
    # The last section of a report is of how long the calls took.
    return {name: data.partition(b"\n## How long the calls took\n")[0] for name, data in files.items()}


@pytest.fixture(scope="module")
def cold(fresh_root, tmp_path_factory):
    """One worker, nothing cached: the cache folder, now warm, and the files to compare with."""
    root = fresh_root()
    provenance, files = run(root, tmp_path_factory.mktemp("cold"))
    assert (provenance.embedding.cached, provenance.embedding.workers) == (0, 1)
    assert provenance.embedding.computed > 300
    return root, files


def test_the_run_is_a_measurement_of_the_real_model(cold):
    _, files = cold
    stems = [f"sample.{arm}.instances-2" for arm in ARMS]
    assert set(files) == {f"{stem}.{kind}" for stem in stems for kind in ("json", "md", "rankings.jsonl.gz")}
    now, anchored = (json.loads(files[f"{stem}.json"]) for stem in stems)
    assert now["embedder"]["kind"] == "llama.cpp"
    assert now["counts"]["scored"] == len(now["queries"]) > 30
    assert now["metrics"]["session"]["recall_any"]["5"]["value"] > 0.5
    # Two arms that gave one ranking would prove nothing about the order in which they run.
    assert now["queries"] != anchored["queries"]


@pytest.mark.slow
def test_with_two_workers(cold, fresh_root, tmp_path):
    provenance, files = run(fresh_root(), tmp_path / "reports", workers=2)
    assert (provenance.embedding.cached, provenance.embedding.workers) == (0, 2)
    assert files == cold[1]


@pytest.mark.slow
def test_without_a_vector_cache(cold, fresh_root, tmp_path):
    root = fresh_root()
    # A file where the folder should be: unlike a mode, it stops the superuser too.
    (root / "vectors").write_text("no folder")
    provenance, files = run(root, tmp_path / "reports", workers=2)
    assert provenance.embedding.cached == 0
    assert (root / "vectors").read_text() == "no folder"
    assert files == cold[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_with_a_warm_vector_cache(workers, cold, tmp_path):
    root, expected = cold
    provenance, files = run(root, tmp_path / "reports", workers=workers)
    assert provenance.embedding.computed == 0
    assert files == expected


def test_with_a_vector_cache_that_lacks_some_vectors(cold, fresh_root, tmp_path):
    warm, expected = cold
    root = fresh_root()
    shutil.copytree(warm / "vectors", root / "vectors")
    (cache,) = (root / "vectors").glob("*.sqlite")
    _forget_every_tenth_vector(cache)
    provenance, files = run(root, tmp_path / "reports", workers=2)
    assert provenance.embedding.computed > 0
    assert provenance.embedding.cached > provenance.embedding.computed
    assert files == expected


def _forget_every_tenth_vector(cache):
    with sqlite3.connect(cache) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM vectors")]
        connection.executemany("DELETE FROM vectors WHERE text = ?", [(text,) for text in texts[::10]])
    connection.close()


def test_with_the_arms_in_the_other_order(cold, tmp_path):
    root, expected = cold
    assert run(root, tmp_path / "reports", timelines=ARMS[::-1])[1] == expected


@pytest.mark.parametrize("arm", ARMS)
def test_with_an_arm_alone(arm, cold, tmp_path):
    root, expected = cold
    own = {name: content for name, content in expected.items() if name.startswith(f"sample.{arm}.")}
    assert len(own) == 3
    assert run(root, tmp_path / "reports", timelines=(arm,))[1] == own


@pytest.mark.parametrize(
    ("environment", "clock"),
    [({"PYTHONHASHSEED": "1"}, []), ({"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati"}, []), ({}, ["later"])],
    ids=["hash seed", "hash seed and time zone", "date"],
)
def test_in_another_process(environment, clock, cold, tmp_path):
    root, expected = cold
    reports = tmp_path / "reports"
    package = str(Path(membench.__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root), str(reports), *clock],
        env={**os.environ, "PYTHONPATH": package, **environment},
        check=True,
        timeout=120,
    )
    assert files_of(reports) == expected
    started = {json.loads(path.read_bytes())["started"][:4] for path in reports.glob("*.provenance.json")}
    assert (started == {"2031"}) == bool(clock)
