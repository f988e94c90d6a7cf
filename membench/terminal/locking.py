"""Single flight, told to the person who waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from membench.files.lock import hold
from membench.terminal.console import errors


@contextmanager
def locked(root: Path, purpose: str, wait: float) -> Iterator[None]:
    """Holds the cache folder, and says whom it waits for, at most ``wait`` seconds."""
    with hold(root, purpose=purpose, wait=wait, notify=lambda line: errors.print(line, soft_wrap=True)):
        yield
