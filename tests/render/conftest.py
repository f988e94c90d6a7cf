"""A clean measurement of a part of the sample."""

import pytest
from remeasured import measured

from membench.reports.measurement import Measurement


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    return measured(tmp_path_factory.mktemp("clean"))
