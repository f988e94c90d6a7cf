"""Progress: bars on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from membench.ruler.observer import Observer, Phase
from membench.terminal.console import errors

_SECONDS_BETWEEN_LINES = 15.0
_UNITS: dict[Phase, str] = {"ingest": "turns", "search": "queries"}


@contextmanager
def transfer(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function to be told of the bytes that are there and that there will be."""
    if not errors.is_terminal:
        errors.print(f"fetching {name}", soft_wrap=True)
        yield lambda done, total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors) as bar:
        task = bar.add_task(f"fetching {name}", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def measuring() -> Iterator[Callable[[int, int], Observer]]:
    """A function that, told how many turns and queries there will be, gives the observer of the run."""
    if not errors.is_terminal:
        yield lambda turns, queries: _Lines({"ingest": turns, "search": queries})
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, speed_estimate_period=60) as bar:
        yield lambda turns, queries: _Bars(bar, {"ingest": turns, "search": queries})


class _RateColumn(ProgressColumn):
    """Work a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} {task.fields['unit']}/s" if task.speed else "")


class _Bars:
    """Two bars on the terminal."""

    def __init__(self, bar: Progress, totals: dict[Phase, int]) -> None:
        self._bar = bar
        self._tasks = {name: bar.add_task(name, total=total, unit=_UNITS[name]) for name, total in totals.items()}

    def phase(self, name: Phase, arm: int) -> nullcontext[None]:
        del name, arm
        return nullcontext()

    def advance(self, name: Phase, amount: int) -> None:
        self._bar.update(self._tasks[name], advance=amount)


class _Lines:
    """A line every so many seconds, for a log."""

    def __init__(self, totals: dict[Phase, int]) -> None:
        self._totals = totals
        self._done: dict[Phase, int] = dict.fromkeys(totals, 0)
        self._begun = self._told = time.monotonic()

    def phase(self, name: Phase, arm: int) -> nullcontext[None]:
        del name, arm
        return nullcontext()

    def advance(self, name: Phase, amount: int) -> None:
        self._done[name] += amount
        now = time.monotonic()
        if now - self._told < _SECONDS_BETWEEN_LINES:
            return
        self._told = now
        share = sum(self._done.values()) / max(sum(self._totals.values()), 1)
        left = (now - self._begun) * max(1 - share, 0.0) / share if share else 0.0
        counts = ", ".join(f"{done:,}/{self._totals[phase]:,} {_UNITS[phase]}" for phase, done in self._done.items())
        errors.print(f"{counts}, about {left:,.0f} s left", soft_wrap=True)
