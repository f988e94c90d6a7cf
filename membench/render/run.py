"""A run's comparisons as the two documents that GitHub shows: the step summary, and the body of a pull request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from membench.render.comparison import arm_views
from membench.render.engine import render
from membench.render.fitting import fit, utf8_bytes, utf16_units
from membench.reports.comparison import Comparisons
from membench.reports.measurement import Measurement

# GitHub takes 1 MiB and 65,536 characters: the rest is for what a caller puts before or after.
LARGEST_SUMMARY = 1_000_000
LONGEST_BODY = 65_000
# So that the queries of one arm do not take the place of the figures of another.
_MOST_QUERIES = 40


def summary_markdown(
    run: Comparisons,
    measurements: Sequence[Measurement],
    sentences: Sequence[str],
    whole: str,
    folder: Path | None = None,
) -> str:
    """The step summary, at most 1,000,000 bytes in UTF-8.

    ``measurements`` are the candidates in the order of the arms. ``sentences`` are what there is to say of the run:
    plain text, in which web addresses become links. ``whole`` is one sentence that says where the uncut document is:
    Markdown, as it stands. Raises UsageError where a template of ``folder`` fails.
    """
    context = {**_context(run, measurements, sentences, whole), "most": None}
    return fit(render("summary.md.j2", context, folder), LARGEST_SUMMARY, utf8_bytes, whole)


def pull_request_body(
    run: Comparisons,
    measurements: Sequence[Measurement],
    sentences: Sequence[str],
    whole: str,
    folder: Path | None = None,
) -> str:
    """The body of the pull request that proposes the measurements, at most 65,000 UTF-16 code units.

    It depends on what is given and on nothing else. The parameters are those of ``summary_markdown``.
    """
    context = {**_context(run, measurements, sentences, whole), "most": _MOST_QUERIES}
    return fit(render("pull_request.md.j2", context, folder), LONGEST_BODY, utf16_units, whole)


def _context(
    run: Comparisons, measurements: Sequence[Measurement], sentences: Sequence[str], whole: str
) -> dict[str, Any]:
    arms = arm_views(run.arms, measurements)
    return {"run": run, "arms": arms, "sentences": list(sentences), "whole": whole}
