"""`membench fetch`."""

from pathlib import Path
from typing import Annotated

import typer

from membench.cli.wait import Wait
from membench.corpora.catalog import CORPORA
from membench.corpora.store import fetch_corpus
from membench.embedding.catalog import MODELS
from membench.embedding.store import fetch_model
from membench.errors import UsageError
from membench.files.paths import cache_root
from membench.terminal.console import errors
from membench.terminal.locking import locked
from membench.terminal.progress import transfer


def fetch_command(
    key: Annotated[str, typer.Argument(help="A corpus or model of `membench list`.")],
    source: Annotated[
        Path | None, typer.Option("--from", help="Import this local copy instead; a .gz is read through.")
    ] = None,
    wait: Wait = 600.0,
) -> None:
    """Fetch a corpus or a model into the cache, verified by its SHA-256.

    Example: membench fetch locomo10

    Example without a network: membench fetch locomo10 --from Downloads/locomo10.json
    """
    root = cache_root()
    if key not in CORPORA and key not in MODELS:
        raise UsageError(f"there is no corpus or model {key!r}.", f"Known: {', '.join([*CORPORA, *MODELS])}.")
    with locked(root, f"membench fetch {key}", wait), transfer(key) as progress:
        if key in CORPORA:
            path = fetch_corpus(CORPORA[key], root, source=source, progress=progress)
        else:
            path = fetch_model(MODELS[key], root, source=source, progress=progress)
    errors.print(f"{key} is at {path}", soft_wrap=True)
