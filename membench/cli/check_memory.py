"""`membench check-memory`."""

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from membench.cli.wait import Wait
from membench.files.paths import cache_root
from membench.memories.check.run import CheckRequest, check_spec
from membench.memories.options import named_options
from membench.memories.spec import TIMEOUT, parse_spec, wants_embedder
from membench.terminal.check import judging, print_broken, print_check
from membench.terminal.locking import locked

BROKEN = 1


def check_memory_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A memory of `membench list`, or your own.")],
    memory_option: Annotated[list[str], typer.Option(metavar="NAME=VALUE", help="Set an option of the memory.")] = [],  # noqa: B006
    memory_python: Annotated[
        Path | None, typer.Option(help="The interpreter that runs a Python memory, with dependencies of its own.")
    ] = None,
    memory_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a call to the memory may take.")
    ] = TIMEOUT,
    allow_persistent: Annotated[
        bool, typer.Option("--allow-persistent", help="Write to a memory that does not say it is ephemeral.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="What an embedding memory embeds with. Default: that of `retrieval`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    wait: Wait = 600.0,
) -> None:
    """Say whether a memory keeps the contract, rule by rule, so that what is measured of it can be trusted.

    Exits with 1 where a rule does not hold.

    Example: membench check-memory my_memory.py:Memory

    Example: membench check-memory "cmd:node memory.mjs"

    Example: membench check-memory http://localhost:8080
    """
    root = cache_root()
    request = CheckRequest(
        spec=spec,
        options=named_options(memory_option),
        python=memory_python,
        timeout=memory_timeout,
        allow_persistent=allow_persistent,
        model=model,
        workers=os.cpu_count() or 1,
    )
    purpose = f"membench check-memory {parse_spec(spec, memory_python).shown}"
    # Only a model is read from the cache folder.
    holding = locked(root, purpose, wait) if wants_embedder(spec, memory_python) else nullcontext()
    with holding, judging() as told:
        report = check_spec(request, root=root, told=told)
    if as_json:
        typer.echo(json.dumps(report.model_dump(mode="json", by_alias=True), indent=2))
    else:
        print_check(report)
    if not report.holds:
        print_broken(report)
        raise typer.Exit(BROKEN)
