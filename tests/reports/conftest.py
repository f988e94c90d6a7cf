"""Measurements of the embedded sample, as the command makes them."""

from pathlib import Path

import pytest

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.reports.measurement import Measurement
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

PART = Reading(part=Slice(instances=1, queries=30))


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory):
    def run(**asked) -> tuple[Measurement, bytes]:
        folder: Path = tmp_path_factory.mktemp("reports")
        request = Request(corpus="sample", reading=PART, toy="memory" not in asked, **asked)
        (outcome,) = run_retrieval(
            request, root=folder / "cache", report_dir=folder, command=[], observer_for=lambda *_: Silent()
        )
        return outcome.measurement, outcome.measurement_path.read_bytes()

    return run


@pytest.fixture(scope="session")
def by_turn(measure) -> tuple[Measurement, bytes]:
    return measure(timelines=("anchored",))


@pytest.fixture(scope="session")
def by_session(measure) -> tuple[Measurement, bytes]:
    return measure(memory="bm25", granularity="session", cut_offs=(1, 2, 4, 50))
