"""Measurements as tables on a terminal."""

from rich.table import Table

from membench.render.figures import METRICS, levels, rows
from membench.render.notices import notices
from membench.render.pool import pool_lines
from membench.render.remedy import remedy
from membench.render.seen import seen
from membench.reports.measurement import Figure, Measurement
from membench.runs.outcome import Outcome
from membench.runs.retrieval import ShardOutcome
from membench.terminal.console import errors, output


def print_outcomes(outcomes: list[Outcome]) -> None:
    """One table a measurement, with its warnings and where its files are."""
    for outcome in outcomes:
        measurement = outcome.measurement
        for reason in measurement.reasons:
            errors.print(f"NOT CLEAN: {reason}", style="bold yellow", soft_wrap=True)
        if helpful := remedy(measurement):
            errors.print(f"To have more stored, measure again with {helpful}", style="bold yellow", soft_wrap=True)
        output.print(_title(outcome), style="bold", soft_wrap=True)
        output.print(_table(measurement))
        for line in (*seen(measurement), *pool_lines(measurement)):
            output.print(line, soft_wrap=True)
        for omitted in measurement.omitted:
            output.print(f"{omitted.level} @{omitted.cut_off} left out: {omitted.reason}", soft_wrap=True)
        for notice in notices(measurement):
            output.print(notice, soft_wrap=True)
        seconds = outcome.provenance.seconds
        if outcome.provenance.resumed:
            output.print(f"{_resumed(outcome.provenance.resumed)} finished before", soft_wrap=True)
        summed = " (sums over the shards)" if outcome.provenance.shards else ""
        output.print(
            f"ingest {seconds.ingest:.1f} s, search {seconds.search:.1f} s, whole run {seconds.run:.1f} s{summed}; "
            f"report: {outcome.report_path}\n",
            soft_wrap=True,
        )


def print_shards(shards: list[ShardOutcome]) -> None:
    """A line for each shard, and how to merge them."""
    for outcome in shards:
        shard, head = outcome.shard, outcome.shard.body.head
        queries = sum(len(part.findings.queries) for part in shard.body.parts)
        output.print(
            f"{head.corpus.key}.{head.arm.name}, shard {shard.run.shard}: {len(shard.body.parts):,} of "
            f"{head.corpus.instances:,} instances and {queries:,} scored queries "
            f"in {shard.run.seconds.run:.1f} s",
            soft_wrap=True,
        )
        if shard.run.resumed:
            output.print(f"{_resumed(shard.run.resumed)} finished before", soft_wrap=True)
        others = "" if shard.of == 1 else f"when all {shard.of} are measured: "
        output.print(f"{others}membench merge {outcome.path.parent}\n", soft_wrap=True)


def _resumed(pools: int) -> str:
    return f"resumed: {pools:,} {'pool was' if pools == 1 else 'pools were'}"


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
    table.add_column("", no_wrap=True)
    cut_offs = measurement.arm.cut_offs
    for k in cut_offs:
        table.add_column(f"@{k}", justify="right", no_wrap=True)
    table.add_column("MRR", justify="right", no_wrap=True)
    mrr = {level: found.mrr for level, found in levels(measurement.metrics)}
    for row in rows(measurement.metrics, cut_offs):
        headline = row.metric == METRICS[0]
        last = _value(mrr[row.level]) if headline else ""
        table.add_row(f"{row.level} {row.metric}", *map(_value, row.figures), last, style="bold" if headline else None)
        if row.metric == METRICS[-1]:
            denominators = [*row.figures, mrr[row.level]]
            table.add_row(f"{row.level} queries", *map(_queries, denominators), style="dim")
    return table


def _value(figure: Figure | None) -> str:
    return "-" if figure is None else f"{figure.value:.4f}"


def _queries(figure: Figure | None) -> str:
    return "0" if figure is None else f"{figure.queries:,}"
