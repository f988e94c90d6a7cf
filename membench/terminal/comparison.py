"""A comparison on a terminal."""

import io
import sys
from collections.abc import Iterator, Sequence

from rich.table import Table as Grid

from membench.render.deltas import HeadlineRow, headline_of
from membench.render.lines import HEADLINE, Table, comparison_table
from membench.render.seen import seen_by_both
from membench.render.text import EMPTY, code_line, counted, figure, one_line, signed, signed_queries
from membench.reports.comparison import Comparison, Flip, Flips, SetAside
from membench.terminal.console import errors, output

# So many cut-offs fit beside each other in 120 columns, whatever their figures are.
_CUT_OFFS_ABREAST = 8


def print_comparison(comparison: Comparison) -> None:
    """The verdict and its rule, then every figure, what is set aside, and the queries gained and lost."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Questions are in any script: a terminal that cannot show it gets an escape and no failure.
        sys.stdout.reconfigure(errors="backslashreplace")
    for line in _verdict(comparison):
        output.print(line, style="bold", soft_wrap=True)
    if comparison.metrics is not None:
        for grid in _grids(comparison_table(comparison.metrics)):
            output.print(grid)
        for told in seen_by_both(comparison):
            output.print(told, soft_wrap=True)
    for line in (*_notes(comparison), *_controls(comparison), *_queries(comparison.flips)):
        output.print(line, soft_wrap=True)


def print_reasons(comparison: Comparison) -> None:
    """Why the two cannot be compared, on standard error: every refusal, or the rule where there is none."""
    for one in comparison.refusals:
        sides = [("baseline", one.baseline), ("candidate", one.candidate)]
        shown = ", ".join(f"{name} {value}" for name, value in sides if value is not None)
        told = f"{one.what}: {shown}: {one.reason}" if shown else f"{one.what}: {one.reason}"
        errors.print(one_line(f"Not comparable: {told}"), style="bold yellow", soft_wrap=True)
    if not comparison.refusals:
        errors.print(f"Not comparable: {one_line(comparison.rule)}", style="bold yellow", soft_wrap=True)


def _verdict(comparison: Comparison) -> Iterator[str]:
    yield one_line(f"{comparison.verdict}: {comparison.rule}")
    if comparison.identical:
        yield "Nothing was measured otherwise: every rank of every query is equal."
    for row in headline_of(comparison):
        yield _headline(row)


def _headline(row: HeadlineRow) -> str:
    name = f"{row.level} {HEADLINE}@{row.cut_off}"
    if row.baseline is None:
        return f"{name}: no query counts on both sides"
    over = counted(row.queries, "query") if row.both is None else f"the {counted(row.both, 'query')} that both observed"
    change = signed(row.delta) if not row.in_queries else f"{signed(row.delta)}, {signed_queries(row.in_queries)}"
    return (
        f"{name}: {figure(row.baseline)} -> {figure(row.candidate)} ({change}) over {over}"
        f"; {row.gained or 0:,} gained, {row.lost or 0:,} lost"
    )


def _grids(table: Table) -> Iterator[Grid]:
    """The table, in as many as its width needs; MRR stands in the last."""
    for start in range(0, max(1, len(table.cut_offs)), _CUT_OFFS_ABREAST):
        end = start + _CUT_OFFS_ABREAST
        last = end >= len(table.cut_offs)
        grid = Grid(box=None, pad_edge=False)
        for heading in ("", ""):
            grid.add_column(heading, no_wrap=True)
        for heading in [*(f"@{k}" for k in table.cut_offs[start:end]), *(["MRR"] if last else [])]:
            grid.add_column(heading, justify="right", no_wrap=True)
        shown = ""
        for line in table.lines:
            name = f"{line.level} {line.metric}"
            cells = [*line.cells[:-1][start:end], *(line.cells[-1:] if last else [])]
            style = "dim" if line.metric == "queries" else "bold" if line.metric == HEADLINE else None
            grid.add_row("" if name == shown else name, line.side, *map(_ascii, cells), style=style)
            shown = name
        yield grid


def _notes(comparison: Comparison) -> Iterator[str]:
    for one in comparison.set_aside:
        yield one_line(f"{one.level} @{one.cut_off} set aside: {one.reason}")
        yield from _paired(one)
    for notice in comparison.notices:
        yield one_line(notice)


def _controls(comparison: Comparison) -> Iterator[str]:
    for one in comparison.controls:
        fill = f", with {' and '.join(map(one_line, one.missing))} filled in" if one.missing else ""
        yield f"the {one.side} with {one.input_window:,} tokens of each text{fill}:"
        yield f"  {code_line(one.command)}"


def _paired(one: SetAside) -> Iterator[str]:
    for metric, row in one.paired.items():
        yield (
            f"  {one_line(metric)}@{one.cut_off} over the {counted(one.both, 'query')} that both observed: "
            f"{figure(row.baseline)} -> {figure(row.candidate)} ({signed(row.delta)})"
        )


def _queries(levels: Sequence[Flips]) -> Iterator[str]:
    for level in levels:
        for word, found in (("lost", level.lost), ("gained", level.gained)):
            if found:
                yield f"{len(found):,} {word} at {level.level} level, {HEADLINE}@{level.cut_off}:"
                for flip in found:
                    yield from _flip(flip)


def _flip(flip: Flip) -> Iterator[str]:
    moves = zip(flip.gold, flip.baseline_ranks, flip.candidate_ranks, strict=True)
    ranks = ", ".join(f"{gold} {before or '-'} -> {after or '-'}" for gold, before, after in moves)
    yield f"  {one_line(flip.id)}: {one_line(ranks)}"
    if flip.question is not None:
        yield f"    {one_line(flip.question)}"


def _ascii(cell: str) -> str:
    return "-" if cell == EMPTY else cell
