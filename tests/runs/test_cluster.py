"""Measuring on a real Dask cluster: the same bytes as in one process, whatever becomes of the workers."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from dask_processes import DaskCluster, cache_with
from distributed import Client

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.ruler.observer import Phase
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

OWN = Request(corpus="sample", reading=Reading(roles="user", part=Slice(instances=4)), timelines=("now", "anchored"))
SHARED = replace(OWN, pool="shared", timelines=("now",))


@dataclass
class Watching:
    """An observer that counts, and has ``then`` called whenever queries were searched."""

    then: Callable[[], object] = lambda: None
    done: dict[Phase, list[int]] = field(default_factory=lambda: {"ingest": [], "search": []})
    totals: tuple[int, int] = (0, 0)

    def phase(self, name: Phase, arm: int) -> nullcontext[None]:
        return nullcontext()

    def advance(self, name: Phase, amount: int) -> None:
        self.done[name].append(amount)
        if name == "search":
            self.then()


@dataclass(frozen=True)
class Reports:
    """What a run wrote: the bytes that are compared, and the provenance of each arm."""

    measured: dict[str, bytes]
    provenance: list[dict[str, Any]]


def run(request: Request, root: Path, reports: Path, watching: Watching | None = None) -> Reports:
    watching = watching or Watching()

    def observer_for(turns: int, queries: int) -> Watching:
        watching.totals = (turns, queries)
        return watching

    run_retrieval(request, root=root, report_dir=reports, command=[], observer_for=observer_for)
    measured, provenance = {}, []
    for path in sorted(reports.iterdir()):
        if path.name.endswith(".provenance.json"):
            provenance.append(json.loads(path.read_bytes()))
        elif not path.name.endswith(".md"):
            measured[path.name] = path.read_bytes()
    return Reports(measured, provenance)


@pytest.fixture(scope="module")
def local(default_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Request], Reports]:
    """What this process measures."""
    base = tmp_path_factory.mktemp("local")
    root = cache_with(default_model, base / "cache")
    return lambda request: run(request, root, base / request.pool)


@pytest.fixture(scope="module")
def own_pools(local: Callable[[Request], Reports]) -> Reports:
    return local(OWN)


@pytest.fixture
def client_cache(default_model: Path, tmp_path: Path) -> Path:
    return cache_with(default_model, tmp_path / "client")


@pytest.fixture(scope="module")
def cluster(default_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """Two workers that share a cache folder with the model in it."""
    base = tmp_path_factory.mktemp("cluster")
    cache = cache_with(default_model, base / "cache")
    with DaskCluster(base / "dask") as started:
        started.start_worker(cache)
        started.start_worker(cache)
        yield started


@pytest.mark.slow
def test_own_pools_give_the_same_bytes(own_pools, cluster, client_cache, tmp_path):
    watching = Watching()
    reports = run(replace(OWN, scheduler=cluster.address), client_cache, tmp_path / "reports", watching)
    assert reports.measured == own_pools.measured
    assert len(reports.measured) == 4
    assert (sum(watching.done["ingest"]), sum(watching.done["search"])) == watching.totals
    for there, here in zip(reports.provenance, own_pools.provenance, strict=True):
        assert there["executor"] == "dask, 2 workers"
        assert here["executor"] == "local"
        assert there["searches"]["calls"] == here["searches"]["calls"]
        assert there["seconds"]["ingest"] > 0
        assert there["embedding"]["workers"] == 2
        # A text of two instances is embedded by each worker, unless it finds the other's vector in the cache.
        computed, cached = there["embedding"]["computed"], there["embedding"]["cached"]
        assert computed + cached == here["embedding"]["computed"] + here["embedding"]["cached"]
    assert not list(client_cache.glob("unfinished/*"))
    for name in ("w0", "w1"):
        assert "goes on without a vector cache" not in cluster.log(name)


@pytest.mark.slow
def test_a_shared_pool_gives_the_same_bytes_and_its_vectors_are_kept_here(local, cluster, client_cache, tmp_path):
    expected = local(SHARED)
    reports = run(replace(SHARED, scheduler=cluster.address), client_cache, tmp_path / "reports")
    assert reports.measured == expected.measured
    assert reports.provenance[0]["executor"] == "dask, 2 workers"
    again = run(SHARED, client_cache, tmp_path / "again")
    assert again.measured == expected.measured
    assert again.provenance[0]["embedding"]["computed"] == 0


def killing(cluster: DaskCluster, lost: list[str]) -> Callable[[], None]:
    """Kills a worker once, while it is at work, and tells which tasks it had."""

    def kill() -> None:
        if lost:
            return
        with Client(cluster.address, set_as_default=False) as client:
            at_work = {address: keys for address, keys in client.processing().items() if keys}
            names = {address: known["name"] for address, known in client.scheduler_info(-1)["workers"].items()}
        address, keys = next(iter(at_work.items()))
        lost.extend(keys)
        os.kill(cluster.worker_of(names[address]).pid, signal.SIGKILL)

    return kill


@pytest.mark.slow
def test_what_a_killed_worker_had_is_done_again(own_pools, default_model, client_cache, tmp_path):
    workers = cache_with(default_model, tmp_path / "workers")
    lost: list[str] = []
    with DaskCluster(tmp_path / "dask") as cluster:
        cluster.start_worker(workers)
        cluster.start_worker(workers)
        watching = Watching(killing(cluster, lost))
        reports = run(replace(OWN, scheduler=cluster.address), client_cache, tmp_path / "reports", watching)
        assert [worker.poll() for worker in cluster.workers].count(-signal.SIGKILL) == 1
    assert lost
    assert reports.measured == own_pools.measured


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(own_pools, cluster, client_cache, tmp_path):
    request = replace(OWN, scheduler=cluster.address)
    begun = Watching()

    def interrupt() -> None:
        if len(begun.done["search"]) == 4:
            raise KeyboardInterrupt

    begun.then = interrupt
    with pytest.raises(KeyboardInterrupt):
        run(request, client_cache, tmp_path / "reports", begun)
    rest = Watching()
    reports = run(request, client_cache, tmp_path / "reports", rest)
    assert reports.measured == own_pools.measured
    # The fourth part was on its way into the journal.
    assert sum(one["resumed"] for one in reports.provenance) == 3
    assert sum(rest.done["search"]) == begun.totals[1] - sum(begun.done["search"][:3])
