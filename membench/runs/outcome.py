"""The files of a measurement."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from membench.files.atomic import write_together
from membench.render.measurement import measurement_markdown
from membench.reports.build import measurement_of
from membench.reports.canonical import canonical_json
from membench.reports.head import Head
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of
from membench.reports.provenance import Provenance
from membench.reports.rankings import packed, rankings_lines
from membench.ruler.part import Part, together


@dataclass(frozen=True, slots=True)
class Outcome:
    """One arm, measured and written. ``stem`` names its files in the report folder."""

    stem: str
    measurement: Measurement
    provenance: Provenance
    measurement_path: Path
    report_path: Path


def write_outcome(
    head: Head,
    parts: list[Part],
    provenance_of: Callable[[str, str], Provenance],
    report_dir: Path,
    templates: Path | None,
) -> Outcome:
    """Writes measurement, provenance, rankings and report, all or none.

    ``provenance_of`` is told the SHA-256 of the measurement and of the lines of the rankings. Raises StorageError.
    """
    measurement = measurement_of(head, parts)
    body, lines = canonical_json(measurement), rankings_lines(together(parts).queries)
    provenance = provenance_of(hashlib.sha256(body).hexdigest(), hashlib.sha256(lines).hexdigest())
    stem = stem_of(measurement)
    paths = {
        suffix: report_dir / f"{stem}.{suffix}" for suffix in ("json", "provenance.json", "rankings.jsonl.gz", "md")
    }
    write_together(
        {
            paths["json"]: body,
            paths["provenance.json"]: canonical_json(provenance),
            paths["rankings.jsonl.gz"]: packed(lines),
            paths["md"]: measurement_markdown(measurement, provenance, templates).encode(),
        }
    )
    return Outcome(stem, measurement, provenance, paths["json"], paths["md"])
