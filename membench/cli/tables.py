"""Measurements as tables on a terminal."""

from rich.table import Table

from membench.cli.console import errors, output
from membench.render.figures import METRICS, rows
from membench.reports.measurement import Figure, Measurement
from membench.runs import Outcome


def print_outcomes(outcomes: list[Outcome]) -> None:
    """One table a measurement, with its warnings and where its files are."""
    for outcome in outcomes:
        measurement = outcome.measurement
        for reason in measurement.reasons:
            errors.print(f"NOT CLEAN: {reason}", style="bold yellow", soft_wrap=True)
        output.print(_title(outcome), style="bold", soft_wrap=True)
        output.print(_table(measurement))
        for omitted in measurement.omitted:
            output.print(f"{omitted.level} @{omitted.cut_off} left out: {omitted.reason}", soft_wrap=True)
        lost = len(measurement.accounting.gold_lost)
        if lost:
            output.print(f"{lost} gold items are not in the store; the report names them", soft_wrap=True)
        seconds = outcome.provenance.seconds
        output.print(
            f"ingest {seconds.ingest:.1f} s, search {seconds.search:.1f} s, whole run {seconds.run:.1f} s; "
            f"report: {outcome.report_path}\n",
            soft_wrap=True,
        )


def _title(outcome: Outcome) -> str:
    measurement = outcome.measurement
    counts, corpus = measurement.counts, measurement.corpus
    return (
        f"{outcome.stem}: {counts.scored:,} of {corpus.queries:,} queries scored "
        f"({counts.unanswerable:,} unanswerable, {counts.without_gold:,} without gold); "
        f"{corpus.instances:,} instances, {corpus.sessions:,} sessions, {corpus.turns:,} turns"
    )


def _table(measurement: Measurement) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    cut_offs = measurement.arm.cut_offs
    for k in cut_offs:
        table.add_column(f"@{k}", justify="right")
    for row in rows(measurement.metrics, cut_offs):
        style = "bold" if row.metric == "recall_all" else None
        table.add_row(f"{row.level} {row.metric}", *map(_value, row.figures), style=style)
        if row.metric == METRICS[-1]:
            table.add_row(f"{row.level} queries", *map(_queries, row.figures), style="dim")
    return table


def _value(figure: Figure | None) -> str:
    return "-" if figure is None else f"{figure.value:.4f}"


def _queries(figure: Figure | None) -> str:
    return "0" if figure is None else f"{figure.queries:,}"
