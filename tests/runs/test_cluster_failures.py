"""What goes wrong on a Dask cluster: the run ends with what failed, where, and what to do."""

import pickle
import shutil
import socket
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask_processes import DaskCluster, cache_with, free_port

import membench
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.errors import InstrumentError, MembenchError, MemoryCallError, ModelError, UsageError
from membench.ruler.observer import Silent
from membench.runs import cluster_client
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

PART = Reading(part=Slice(instances=2))

MEMORY = """
    import os

    class Memory:
        def __init__(self):
            self.version = os.environ.get("MEMORY_VERSION", "1")

        def describe(self):
            return {"name": "told", "version": self.version, "ephemeral": True}

        def open(self, pool):
            return Store()

    class Store:
        def write(self, units):
            how = os.environ.get("MEMORY_FAILS")
            if how == "dies":
                os.kill(os.getpid(), 9)
            elif how == "raises":
                raise ValueError("no room")
            return [{"status": "stored"} for unit in units]

        def search(self, query, limit, as_of):
            return []

        def close(self):
            pass
"""


def failure(folder: Path, scheduler: str, **asked: object) -> MembenchError:
    request = Request(**{"corpus": "sample", "reading": PART, "memory": "bm25", **asked}, scheduler=scheduler)
    with pytest.raises(MembenchError) as caught:
        run_retrieval(
            request,
            root=folder / "client",
            report_dir=folder / "reports",
            command=[],
            observer_for=lambda *_: Silent(),
        )
    assert not list((folder / "reports").glob("*.json"))
    return caught.value


@pytest.fixture
def memory(tmp_path: Path) -> str:
    """An own memory that does as the environment of its process says."""
    path = tmp_path / "told.py"
    path.write_text(textwrap.dedent(MEMORY))
    return f"{path}:Memory"


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[DaskCluster]:
    with DaskCluster(tmp_path / "dask") as started:
        yield started


@pytest.mark.parametrize(
    "address",
    ["", "host", "host:8786", "tcp://host", "tcp://:8786", "tcp://host:port", "http://host:8786", "tcp://h:0"],
)
def test_what_is_no_address_is_refused(address, tmp_path):
    error = failure(tmp_path, address)
    assert isinstance(error, UsageError)
    assert "tcp://host:8786" in str(error.remedy)


def test_without_dask_the_way_to_install_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    error = failure(tmp_path, "tcp://127.0.0.1:8786")
    assert isinstance(error, UsageError)
    assert "pip install 'membench[dask]'" in str(error.remedy)


def test_a_shared_pool_of_a_memory_without_vectors_has_nothing_to_spread(tmp_path):
    error = failure(tmp_path, "tcp://127.0.0.1:8786", pool="shared")
    assert isinstance(error, UsageError)
    assert "bm25" in error.what


def test_a_scheduler_that_is_not_there_is_named_with_how_to_start_one(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_client, "_CONNECT_SECONDS", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    error = failure(tmp_path, address)
    assert type(error) is InstrumentError
    assert f"There is no Dask scheduler at {address}" in error.what
    assert "dask scheduler" in str(error.remedy)
    assert f"dask worker {address}" in str(error.remedy)


def test_something_else_that_listens_there_is_no_scheduler(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_client, "_CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert f"There is no Dask scheduler at {address}" in failure(tmp_path, address).what


def test_a_scheduler_without_workers_is_told(monkeypatch, scheduler, tmp_path):
    monkeypatch.setattr(cluster_client, "_WORKER_SECONDS", 0.5)
    error = failure(tmp_path, scheduler.address)
    assert type(error) is InstrumentError
    assert "had no worker for 0.5 s" in error.what
    assert "dask worker" in str(error.remedy)


def test_a_worker_without_the_model_is_named_with_what_fetches_it(default_model, scheduler, tmp_path):
    cache_with(default_model, tmp_path / "client")
    scheduler.start_worker(cache_with(None, tmp_path / "workers"))
    error = failure(tmp_path, scheduler.address, memory="episodic")
    assert isinstance(error, ModelError)
    assert error.what.startswith("On the Dask worker tcp://127.0.0.1:")
    assert str(tmp_path / "workers") in error.what
    assert "On that machine, run: membench fetch all-minilm-l6-v2" in str(error.remedy)


def test_a_worker_whose_memory_is_another_is_named_with_what_differs(memory, scheduler, tmp_path):
    scheduler.start_worker(tmp_path / "workers", MEMORY_VERSION="2")
    error = failure(tmp_path, scheduler.address, memory=memory)
    assert type(error) is InstrumentError
    assert "On the Dask worker tcp://127.0.0.1:" in error.what
    assert "version '2', expected '1'" in error.what


def test_a_worker_that_runs_other_code_is_named_with_both_versions(scheduler, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(Path(membench.__file__).parent, other / "membench", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "membench" / "errors.py").open("a") as file:
        file.write("# changed\n")
    scheduler.start_worker(tmp_path / "workers", PYTHONPATH=str(other))
    error = failure(tmp_path, scheduler.address)
    assert type(error) is InstrumentError
    assert "The Dask worker tcp://127.0.0.1:" in error.what
    assert "the source of membench is" in error.what
    assert "numpy" not in error.what


def test_a_memory_that_fails_on_a_worker_fails_as_it_does_here(memory, scheduler, tmp_path):
    scheduler.start_worker(tmp_path / "workers", MEMORY_FAILS="raises")
    error = failure(tmp_path, scheduler.address, memory=memory)
    assert isinstance(error, MemoryCallError)
    assert "On the Dask worker tcp://127.0.0.1:" in error.what
    assert "ValueError: no room" in error.what


@pytest.mark.slow
def test_a_task_that_ends_worker_after_worker_is_given_up(memory, tmp_path):
    with DaskCluster(tmp_path / "dask", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as cluster:
        for _ in range(2):
            cluster.start_worker(tmp_path / "workers", MEMORY_FAILS="dies")
        error = failure(tmp_path, cluster.address, memory=memory, reading=Reading(part=Slice(instances=1)))
    assert type(error) is InstrumentError
    assert "given up: 2 workers ended while they did it" in error.what


@pytest.mark.slow
def test_workers_that_are_all_lost_are_waited_for_a_while(monkeypatch, memory, scheduler, tmp_path):
    monkeypatch.setattr(cluster_client, "_WORKER_SECONDS", 5.0)
    scheduler.start_worker(tmp_path / "workers", MEMORY_FAILS="dies")
    error = failure(tmp_path, scheduler.address, memory=memory)
    assert "has had no worker for 5 s" in error.what


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_run(default_model, scheduler, tmp_path):
    cache_with(default_model, tmp_path / "client")
    scheduler.start_worker(cache_with(default_model, tmp_path / "workers"))

    class Killing(Silent):
        def advance(self, name: str, amount: int) -> None:
            scheduler.scheduler.kill()

    request = Request(
        corpus="sample",
        reading=Reading(part=Slice(instances=4)),
        timelines=("now", "anchored"),
        memory="bm25",
        scheduler=scheduler.address,
    )
    with pytest.raises(InstrumentError, match=r"scheduler at tcp://127\.0\.0\.1:\d+ was lost in mid-run"):
        run_retrieval(
            request,
            root=tmp_path / "client",
            report_dir=tmp_path / "reports",
            command=[],
            observer_for=lambda *_: Killing(),
        )


@pytest.mark.parametrize("kind", [UsageError, ModelError, MemoryCallError])
def test_an_error_of_ours_survives_the_way(kind):
    for error in (kind("what", "remedy"), kind("what")):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), back.what, back.remedy, back.exit_code, str(back)) == (
            kind,
            error.what,
            error.remedy,
            error.exit_code,
            str(error),
        )
