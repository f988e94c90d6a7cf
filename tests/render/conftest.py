"""Measurements of a part of the sample: without vectors, and with the real model at two input windows."""

from pathlib import Path

import pytest
from remeasured import measured
from windowed import with_model

from membench.embedding.choice import EmbedderChoice
from membench.reports.measurement import Measurement


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    return measured(tmp_path_factory.mktemp("clean"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("windows")


@pytest.fixture(scope="session")
def wide(default_model: Path, folder: Path) -> Measurement:
    return with_model(default_model, folder)


@pytest.fixture(scope="session")
def narrow(default_model: Path, folder: Path) -> Measurement:
    return with_model(default_model, folder, embedder=EmbedderChoice(input_window=16))
