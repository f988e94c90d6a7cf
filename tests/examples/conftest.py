"""The memories of examples/memories, in the environment of `make test-examples`. What is not installed is skipped."""

import tempfile
from pathlib import Path

import pytest
from known_examples import EXAMPLES


@pytest.fixture(params=EXAMPLES, ids=lambda example: example.name.replace(" ", "-"))
def example(request):
    request.param.skip_unless_usable()
    return request.param


@pytest.fixture
def temporary(monkeypatch):
    """The temporary folder of this process and its children; others may pass through it, as through the system's."""
    with tempfile.TemporaryDirectory(prefix="examples-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.setenv("TMPDIR", name)
        yield folder
