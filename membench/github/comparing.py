"""The run's measurements against the accepted baselines in the workspace."""

from dataclasses import dataclass
from pathlib import Path

from membench.compare.compare import compare, run_comparison
from membench.compare.questions import questions_at_hand
from membench.files.atomic import write_together
from membench.github.inputs import Inputs
from membench.render.comparison import comparison_markdown
from membench.reports.canonical import canonical_json
from membench.reports.comparison import Comparison, Comparisons
from membench.reports.loading import OtherSchema, read_measurement
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of

COMPARISONS = "comparisons.json"


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of all arms, and the file that it is in."""

    run: Comparisons
    path: Path


def compared(
    measurements: list[Measurement],
    inputs: Inputs,
    root: Path,
    baseline_dir: Path,
    report_dir: Path,
    templates: Path | None,
) -> Compared:
    """Compares each of ``measurements`` with the baseline of its name, and writes what was found to ``report_dir``.

    Raises ReportError or StorageError for a baseline that cannot be read; one that is not there is a refusal.
    """
    texts: dict[str, dict[str, str]] = {}
    arms = []
    for measurement in measurements:
        key = measurement.corpus.fingerprint
        if key not in texts:
            own = inputs.corpus if inputs.format else None
            texts[key] = questions_at_hand(measurement, root, own, inputs.format)
        baseline = _baseline(baseline_dir / f"{stem_of(measurement)}.json")
        arms.append(compare(baseline, measurement, questions=texts[key]))
    run = run_comparison(arms)
    path = report_dir / COMPARISONS
    files = {path: canonical_json(run)}
    for measurement, arm in zip(measurements, arms, strict=True):
        files |= _files(report_dir / stem_of(measurement), arm, templates)
    write_together(files)
    return Compared(run, path)


def _baseline(path: Path) -> Measurement | OtherSchema | None:
    return read_measurement(path) if path.exists() else None


def _files(stem: Path, arm: Comparison, templates: Path | None) -> dict[Path, bytes]:
    return {
        stem.with_name(f"{stem.name}.comparison.json"): canonical_json(arm),
        stem.with_name(f"{stem.name}.comparison.md"): comparison_markdown(arm, templates).encode(),
    }
