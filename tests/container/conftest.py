"""The image that `make test-container` has built, and a job on a machine of its own for each test."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from container.engine import Engine, engine_for
from container.runner import Runner


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    image = os.environ.get("MEMBENCH_IMAGE", "membench-action:test")
    try:
        engine = engine_for(image)
    except subprocess.CalledProcessError as error:
        pytest.exit(
            f"There is no image {image} here, or nothing to run it: `make test-container` builds it. {error}", 1
        )
    yield engine
    engine.close()


@pytest.fixture
def runner(engine: Engine, tmp_path: Path) -> Runner:
    return Runner(engine, tmp_path)


@pytest.fixture(scope="session")
def warm_sample(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job whose first step has measured the sample: model and vectors are in its cache folder."""
    runner = Runner(engine, tmp_path_factory.mktemp("warm"))
    result = runner.run({"corpus": "sample"})
    assert result.exit_code == 0, result.log
    return runner
