"""A clean measurement of a part of the sample, and the accepted baselines."""

from pathlib import Path

import pytest
from remeasured import first_queries, measured

from membench.reports.loading import read_measurement
from membench.reports.measurement import Measurement

BASELINES = Path(__file__).parents[2] / "baselines"


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    measurement = measured(tmp_path_factory.mktemp("clean"))
    assert (measurement.status, measurement.counts.scored) == ("clean", len(measurement.queries))
    return measurement


@pytest.fixture(scope="session")
def accepted() -> dict[str, Measurement]:
    found = {
        path.stem: read_measurement(path)
        for path in sorted(BASELINES.glob("*.json"))
        if not path.name.endswith(".provenance.json")
    }
    assert all(isinstance(one, Measurement) for one in found.values())
    return found


@pytest.fixture(scope="session")
def few(accepted: dict[str, Measurement]) -> Measurement:
    """What has vectors, and few queries, so that it is compared at once."""
    return first_queries(accepted["locomo10.now"], 20)
