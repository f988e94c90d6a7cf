"""Measurements of the sample with the real default model, at its own input window and at a narrower one."""

from pathlib import Path
from typing import Any

from remeasured import measured

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path
from membench.reports.measurement import Measurement

PART = Reading(part=Slice(instances=1, queries=20))


def with_model(model: Path, folder: Path, **asked: Any) -> Measurement:
    """The first 20 queries of the sample; what is embedded is kept in ``folder`` for the next time."""
    place = model_path(MODELS[DEFAULT_MODEL], folder / "cache")
    if not place.exists():
        place.parent.mkdir(parents=True)
        place.symlink_to(model)
    return measured(folder, **{"memory": "episodic", "reading": PART, **asked})
