"""A measurement as a Markdown report. What varies from night to night is in a section of its own, the last."""

from pathlib import Path

from membench.render.engine import render
from membench.render.figures import METRICS, levels
from membench.render.notices import notices
from membench.render.pool import DISTRACTION, pool_rows
from membench.render.remedy import remedy
from membench.render.seen import input_rows, seen
from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance


def measurement_markdown(
    measurement: Measurement, provenance: Provenance | None = None, folder: Path | None = None
) -> str:
    """The report of one arm, with how long its calls took where ``provenance`` tells.

    Raises UsageError where a template of ``folder`` fails.
    """
    context = {
        "m": measurement,
        "provenance": provenance,
        "levels": [(name, found.model_copy()) for name, found in levels(measurement.metrics)],
        "metric_names": METRICS,
        "notices": list(notices(measurement)),
        "remedy": remedy(measurement),
        "seen": seen(measurement),
        "inputs": input_rows(measurement),
        "distraction": DISTRACTION,
        "pool": [] if measurement.accounting.shared is None else pool_rows(measurement.accounting.shared),
        "category_levels": lambda category: list(levels(category.metrics)),
        "quirks": list(measurement.corpus.quirks.model_dump().items()),
    }
    return render("measurement.md.j2", context, folder)
