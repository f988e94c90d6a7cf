"""The accepted measurements: whole, canonical, and what this code measures today."""

from pathlib import Path

import pytest

from membench.corpora.catalog import find_corpus
from membench.corpora.store import fetch_corpus
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.llama import instruction_set
from membench.embedding.store import model_path
from membench.files.paths import cache_root
from membench.reports.canonical import canonical_json
from membench.reports.measurement import Measurement
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

BASELINES = sorted((Path(__file__).parents[1] / "baselines").glob("*.json"))


def read(path):
    return Measurement.model_validate_json(path.read_bytes())


def test_there_are_baselines():
    assert {path.name for path in BASELINES} >= {
        "locomo10.now.json",
        "locomo10.anchored.json",
        "locomo10.anchored.score_decimals-none.json",
    }


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.name)
def test_a_baseline_is_clean_canonical_and_under_its_own_name(path):
    measurement = read(path)
    assert measurement.status == "clean"
    assert canonical_json(measurement) == path.read_bytes()
    assert path.name == f"{measurement.corpus.key}.{measurement.arm.name}.json"


@pytest.mark.slow
@pytest.mark.parametrize("decimals", ["4", "none"])
def test_locomo_measures_to_the_bytes_of_its_baselines(decimals, tmp_path, default_model, locomo_file):
    root = cache_root()
    accepted = read(BASELINES[0]).embedder
    if accepted.instruction_set != instruction_set():
        pytest.skip(f"the baselines are of {accepted.instruction_set}, this llama.cpp of {instruction_set()}")
    assert default_model == model_path(MODELS[DEFAULT_MODEL], root)
    fetch_corpus(find_corpus("locomo10"), root, source=locomo_file)
    request = Request(
        corpus="locomo10",
        timelines=("now", "anchored") if decimals == "4" else ("anchored",),
        memory_options={"score_decimals": decimals},
        workers=2,
    )
    outcomes = run_retrieval(request, root=root, report_dir=tmp_path, command=[], observer_for=lambda *_: Silent())
    for outcome in outcomes:
        accepted_path = BASELINES[0].parent / outcome.measurement_path.name
        assert outcome.measurement_path.read_bytes() == accepted_path.read_bytes()
