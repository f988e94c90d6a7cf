"""The fixture that a folder of tests imports in its conftest: ``from github_server.fixtures import hub``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from github_server.hub import Hub
from github_server.server import github_server


@contextmanager
def checked_hub(folder: Path) -> Iterator[Hub]:
    """Yield a local GitHub with one commit; raise AssertionError in the end when anything did not fit."""
    with github_server(folder, files={"README.md": b"# memory\n"}) as server:
        yield server
    assert not server.violations, "\n".join(server.violations)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A local GitHub with one commit; the test fails when a request or an answer did not fit GitHub's description."""
    with checked_hub(tmp_path / "hub") as server:
        yield server
