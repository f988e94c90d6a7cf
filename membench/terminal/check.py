"""A check of a memory on a terminal."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.table import Table

from membench.memories.check.report import CheckReport, Result
from membench.render.text import counted, one_line
from membench.terminal.console import errors, output

_HOLDS = {True: "yes", False: "NO", None: "-"}
_STYLES = {True: None, False: "bold red", None: "dim"}


@contextmanager
def judging() -> Iterator[Callable[[Result], None]]:
    """A function to be told of each result: a terminal shows how many there are so far."""
    if not errors.is_terminal:
        yield lambda result: None
        return
    with errors.status("checking") as status:
        done = 0

        def told(result: Result) -> None:
            nonlocal done
            done += 1
            status.update(f"checking: {counted(done, 'rule')}, the last one {result.name}")

        yield told


def print_check(report: CheckReport) -> None:
    """A line a rule, what shows each that is broken, and how many there are of each kind."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a memory answers is in any script: a terminal that cannot show it gets an escape and no failure.
        sys.stdout.reconfigure(errors="backslashreplace")
    output.print(_title(report), style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("rule", "holds", "why"):
        table.add_column(column, overflow="fold", no_wrap=column != "why")
    for result in report.results:
        table.add_row(result.name, _HOLDS[result.holds], one_line(result.reason), style=_STYLES[result.holds])
    output.print(table)
    for result in report.broken:
        # A call that failed is its own example, and stands in the reason.
        if result.example is not None and result.example.call not in result.reason:
            output.print(f"\n{result.name}: {one_line(result.title)}", style="bold", soft_wrap=True)
            output.print(f"  {one_line(result.example.call)}", soft_wrap=True)
            output.print(f"  -> {one_line(result.example.answer)}", soft_wrap=True)
    output.print(f"\n{_summary(report)}", soft_wrap=True)


def print_broken(report: CheckReport) -> None:
    """On standard error, which rules are broken."""
    names = ", ".join(result.name for result in report.broken)
    errors.print(
        f"The memory {one_line(report.spec)} cannot be measured as it is: {names}.", style="bold red", soft_wrap=True
    )


def _title(report: CheckReport) -> str:
    spec = one_line(report.spec)
    if report.memory is None:
        return f"{spec}: it does not describe itself"
    memory = report.memory
    return f"{spec}: {one_line(memory.name)} {one_line(memory.version)}, {one_line(memory.backend)}"


def _summary(report: CheckReport) -> str:
    held = sum(result.holds is True for result in report.results)
    open_questions = sum(result.holds is None for result in report.results)
    return f"{counted(held, 'rule')} held, {len(report.broken)} broken, {open_questions} not judged"
