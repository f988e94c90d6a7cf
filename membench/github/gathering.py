"""What earlier jobs measured: whole measurements as they are, and shards, which are merged first."""

from collections.abc import Iterator
from pathlib import Path

from membench.errors import ReportError, UsageError
from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.github.origin import command_of, source_of
from membench.reports.loading import OtherSchema, read_measurement
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of
from membench.ruler.timeline import TIMELINES
from membench.runs.merging import SHARD_FILES, run_merge
from membench.terminal.tables import print_outcomes

_NOT_MEASUREMENTS = (".provenance.json", ".comparison.json", "comparisons.json")


def gathered(
    folder: Path, inputs: Inputs, context: Context, report_dir: Path, templates: Path | None
) -> list[Measurement]:
    """Those in ``folder`` and below, each once: by timeline in the order of the README, then by name.

    What shards make together is written to ``report_dir`` and printed, as if it had been measured here. Raises
    UsageError where there is nothing, ReportError for shards that are not all those of their arms, each once and all
    measured alike, and for a file that is no measurement, is of another schema, or holds an arm that another holds
    otherwise.
    """
    if not folder.is_dir():
        raise UsageError(f"The input measurements is {folder.name!r}: there is no such folder in the workspace.")
    shards = sorted(folder.rglob(SHARD_FILES))
    found = {stem_of(one): one for one in _merged(shards, inputs, context, report_dir, templates)}
    for path, one in _read(folder, set(shards)):
        if found.setdefault(stem_of(one), one) != one:
            raise ReportError(
                f"{path} and other files below {folder} are different measurements of {stem_of(one)}",
                "Give each job of the matrix an arm or a shard of its own, and begin with an empty folder.",
            )
    if not found:
        raise UsageError(
            f"The input measurements is {folder}: there is neither a measurement nor a shard of one in it.",
            "Download what the measuring jobs have uploaded into it, with actions/download-artifact.",
        )
    return sorted(found.values(), key=lambda one: (TIMELINES.index(one.arm.timeline), stem_of(one)))


def _merged(
    shards: list[Path], inputs: Inputs, context: Context, report_dir: Path, templates: Path | None
) -> list[Measurement]:
    if not shards:
        return []
    try:
        outcomes = run_merge(
            shards,
            report_dir=report_dir,
            command=command_of(inputs),
            templates=templates,
            source=source_of(context),
        )
    except UsageError as error:
        # Nobody has named these files: they are what the jobs of this run have left, or have failed to.
        raise ReportError(
            error.what,
            "Run the job of each shard that is missing again, give each job a shard of its own, "
            "and begin with an empty folder.",
        ) from error
    print_outcomes(outcomes)
    return [outcome.measurement for outcome in outcomes]


def _read(folder: Path, shards: set[Path]) -> Iterator[tuple[Path, Measurement]]:
    for path in sorted(folder.rglob("*.json")):
        if path in shards or path.name.endswith(_NOT_MEASUREMENTS):
            continue
        one = read_measurement(path)
        if isinstance(one, OtherSchema):
            raise ReportError(f"{path} is of the {one.age} schema {one.schema}", one.remedy)
        yield path, one
