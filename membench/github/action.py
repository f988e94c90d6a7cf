"""The action from beginning to end, on one page: set up, measure, compare, propose, tell."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from membench.corpora.shards import Shard
from membench.files.atomic import ensure_writable
from membench.github import commands
from membench.github.cache_key import cache_key
from membench.github.comparing import Compared, compared
from membench.github.context import Context
from membench.github.gathering import gathered
from membench.github.inputs import Inputs
from membench.github.measuring import measured, measured_shard
from membench.github.proposal.propose import Proposed
from membench.github.proposing import proposed
from membench.github.setup import run_setup
from membench.github.sharding import sentences_of, shard_markdown
from membench.render.engine import check_templates
from membench.render.run import summary_markdown
from membench.reports.comparison import Comparison
from membench.reports.measurement import Measurement


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of the workspace, absolute."""

    cache: Path
    reports: Path
    baselines: Path
    templates: Path | None


def run_action(inputs: Inputs, context: Context) -> None:
    """Runs the action. Raises MembenchError only where the instrument is broken or an input cannot be used: neither a
    regression nor a refused comparison nor a pull request that GitHub forbids is one. With `shard` it ends when that is
    measured.
    """
    folders = _folders(inputs, context.workspace)
    if folders.templates is not None:
        check_templates(folders.templates)
    if inputs.setup:
        with commands.group("Setup"):
            run_setup(inputs.setup, context.workspace, os.environ)
    ensure_writable(folders.reports)
    commands.write_outputs(context.output, {"report-dir": inputs.report_dir})

    if inputs.shard is not None:
        _measure_shard(inputs, inputs.shard, context, folders)
        return
    with commands.group("Measure"):
        measurements = _measured(inputs, context, folders)
    with commands.group("Compare"):
        comparison = compared(
            measurements, inputs, folders.cache, folders.baselines, folders.reports, folders.templates
        )
        for arm in comparison.run.arms:
            commands.say(_told(arm))
    with commands.group("Propose"):
        whole = _whole(inputs, context)
        proposal = proposed(measurements, comparison.run, inputs, context, folders.templates, whole)
        for sentence in proposal.sentences:
            commands.say(sentence)

    sentences = [*_unclean(measurements), *proposal.sentences]
    if proposal.pull is not None:
        sentences.append(f"Pull request {proposal.pull.number}: {proposal.pull.url}")
    summary = summary_markdown(comparison.run, measurements, sentences, whole, folders.templates)
    commands.write_summary(context.summary, summary)
    commands.annotate("notice", f"membench: {comparison.run.verdict}", _headlines(comparison))
    if not proposal.in_order:
        commands.annotate("notice", "membench: no pull request", " ".join(proposal.sentences))
    commands.write_outputs(context.output, outputs(inputs, measurements, comparison, proposal, folders))


def outputs(
    inputs: Inputs, measurements: list[Measurement], comparison: Compared, proposal: Proposed, folders: Folders
) -> dict[str, str]:
    """Every output of `action.yml` but `report-dir`, which is set before anything can fail."""
    first, arm = measurements[0], comparison.run.arms[0]
    figure, delta = headline_of(first, arm)
    model = first.embedder.sha256 if first.embedder else None
    return {
        "verdict": comparison.run.verdict,
        "comparison": str(Path(inputs.report_dir, comparison.path.name)),
        "measured-queries": str(first.counts.scored),
        "headline": "" if figure is None else repr(figure),
        "headline-delta": "" if delta is None else repr(delta),
        "pull-request-number": str(proposal.pull.number) if proposal.pull else "",
        "pull-request-url": proposal.pull.url if proposal.pull else "",
        "pull-request-operation": proposal.operation,
        "model-sha256": model or "",
        "cache-key": cache_key(folders.cache, model),
    }


def headline_of(measurement: Measurement, arm: Comparison) -> tuple[float | None, float | None]:
    """Session recall_all at the headline cut-off, and what it differs by; None for what is not there."""
    k = str(arm.headline.cut_off)
    figure = measurement.metrics.session.recall_all.get(k)
    delta = arm.metrics.session.recall_all.get(k) if arm.metrics else None
    return figure.value if figure else None, delta.delta if delta else None


def _folders(inputs: Inputs, workspace: Path) -> Folders:
    return Folders(
        cache=workspace / inputs.cache_dir,
        reports=workspace / inputs.report_dir,
        baselines=workspace / inputs.baseline_dir,
        templates=workspace / inputs.templates if inputs.templates else None,
    )


def _measured(inputs: Inputs, context: Context, folders: Folders) -> list[Measurement]:
    if inputs.measurements is None:
        return measured(inputs, context, folders.cache, folders.reports, folders.templates)
    return gathered(context.workspace / inputs.measurements, inputs, context, folders.reports, folders.templates)


def _measure_shard(inputs: Inputs, shard: Shard, context: Context, folders: Folders) -> None:
    with commands.group("Measure"):
        outcomes = measured_shard(inputs, shard, folders.cache, folders.reports)
        sentences = list(sentences_of(shard, outcomes))
        for sentence in sentences:
            commands.say(sentence)
    commands.write_summary(context.summary, shard_markdown(shard, sentences, _whole(inputs, context)))
    embedder = outcomes[0].shard.body.head.embedder
    key = cache_key(folders.cache, embedder.sha256 if embedder else None, shard)
    commands.write_outputs(context.output, {"cache-key": key})


def _whole(inputs: Inputs, context: Context) -> str:
    of_run = f" of this run: {context.run_url}" if context.run_url else "."
    return f"Everything that was written is in the folder {inputs.report_dir}{of_run}"


def _unclean(measurements: list[Measurement]) -> Iterator[str]:
    for one in measurements:
        for reason in one.reasons:
            yield f"{one.arm.name} is not clean and cannot become a baseline: {reason}."
        if one.memory.noisy:
            yield f"{one.arm.name} cannot become a baseline: asked the same again, the memory gave another list."


def _told(arm: Comparison) -> str:
    stem = arm.candidate.stem if arm.candidate else "?"
    # Where there is but one reason against comparing, it is the rule.
    refusals = arm.refusals if len(arm.refusals) > 1 else []
    reasons = "".join(f"\n  {refusal.what}: {refusal.reason}" for refusal in refusals)
    return f"{stem}: {arm.verdict}: {arm.rule}{reasons}"


def _headlines(comparison: Compared) -> str:
    return "\n".join(_told(arm) for arm in comparison.run.arms)
