"""`membench compare`."""

from pathlib import Path
from typing import Annotated

import typer

from membench.compare.compare import compare
from membench.compare.questions import questions_at_hand
from membench.errors import UsageError
from membench.files.paths import cache_root
from membench.render.comparison import comparison_markdown
from membench.reports.canonical import canonical_json
from membench.reports.comparison import Comparison
from membench.reports.loading import OtherSchema, read_measurement
from membench.reports.measurement import Measurement
from membench.terminal.comparison import print_comparison, print_reasons

REFUSED = 3


def compare_command(
    baseline: Annotated[Path, typer.Argument(metavar="BASELINE", help="The measurement file that was accepted.")],
    candidate: Annotated[Path, typer.Argument(metavar="CANDIDATE", help="The measurement file to compare with it.")],
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="The cut-off that the verdict is read at. Default: 5.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the report as Markdown.")] = False,
) -> None:
    """Say whether a measurement is better or worse than another, query by query, or why nothing can be said.

    Exits with 3 where the two cannot be compared.

    Example: membench compare baselines/locomo10.now.json reports/locomo10.now.json
    """
    if as_json and as_markdown:
        raise UsageError("--json and --markdown: only one of them can be printed.")
    comparison = _compared(read_measurement(baseline), read_measurement(candidate), k)
    if as_json:
        typer.echo(canonical_json(comparison), nl=False)
    elif as_markdown:
        typer.echo(comparison_markdown(comparison).encode(), nl=False)
    else:
        print_comparison(comparison)
    if comparison.verdict == "not comparable":
        print_reasons(comparison)
        raise typer.Exit(REFUSED)


def _compared(
    baseline: Measurement | OtherSchema, candidate: Measurement | OtherSchema, cut_off: int | None
) -> Comparison:
    comparison = compare(baseline, candidate, cut_off)
    # A corpus can be large: it is read only where there is a query to show.
    if isinstance(candidate, Measurement) and any(level.gained or level.lost for level in comparison.flips):
        return compare(baseline, candidate, cut_off, questions_at_hand(candidate, cache_root()))
    return comparison
