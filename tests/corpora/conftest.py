"""Files of a user's own, written as a test asks."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def corpus_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes bytes as they are, text as UTF-8, anything else as JSON."""

    def write(content: object, name: str = "own.json") -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
