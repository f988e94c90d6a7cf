"""`membench merge`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from membench.cli.summary import echo_outcomes
from membench.runs.merging import run_merge
from membench.terminal.tables import print_outcomes


def merge_command(
    shards: Annotated[list[Path], typer.Argument(metavar="SHARDS...", help="Shard files, or folders that hold them.")],
    report_dir: Annotated[Path, typer.Option(help="Where the reports go.")] = Path("reports"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Put the shards of an arm together: the same bytes as if one machine had measured it.

    Example: membench merge reports/longmemeval_s.now.shard-*.json
    """
    outcomes = run_merge(shards, report_dir=report_dir, command=["membench", *sys.argv[1:]])
    echo_outcomes(outcomes) if as_json else print_outcomes(outcomes)
