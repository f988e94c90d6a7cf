"""Single flight, as the commands use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from membench.cli.console import errors
from membench.files.lock import hold

Wait = Annotated[
    float, typer.Option("--wait", min=0, help="Seconds to wait for another run that holds the cache folder.")
]


@contextmanager
def locked(root: Path, purpose: str, wait: float) -> Iterator[None]:
    """Holds the cache folder, and says whom it waits for."""
    with hold(root, purpose=purpose, wait=wait, notify=lambda line: errors.print(line, soft_wrap=True)):
        yield
