"""The accepted measurements: whole, canonical, and what this code measures today."""

import hashlib
from pathlib import Path

import pytest

from membench.corpora.catalog import find_corpus
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.corpora.store import fetch_corpus
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.llama import instruction_set
from membench.embedding.store import model_path
from membench.files.paths import cache_root
from membench.reports.canonical import canonical_json
from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

FOLDER = Path(__file__).parents[1] / "baselines"
BASELINES = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".provenance.json"))


def read(path):
    return Measurement.model_validate_json(path.read_bytes())


def test_there_are_baselines():
    assert {path.name for path in BASELINES} >= {
        "locomo10.now.json",
        "locomo10.anchored.json",
        "locomo10.anchored.score_decimals-none.json",
        "longmemeval_s_499.now.json",
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
        accepted_path = FOLDER / outcome.measurement_path.name
        assert outcome.measurement_path.read_bytes() == accepted_path.read_bytes()


def test_the_provenance_of_longmemeval_is_of_its_baseline():
    body = (FOLDER / "longmemeval_s_499.now.json").read_bytes()
    provenance = Provenance.model_validate_json((FOLDER / "longmemeval_s_499.now.provenance.json").read_bytes())
    assert provenance.measurement_sha256 == hashlib.sha256(body).hexdigest()
    assert provenance.seconds.run > 0


@pytest.mark.slow
def test_an_instance_of_longmemeval_measures_to_the_ranks_of_its_baseline(tmp_path, default_model, longmemeval_s_file):
    accepted = read(FOLDER / "longmemeval_s_499.now.json")
    if accepted.embedder.instruction_set != instruction_set():
        pytest.skip(f"the baseline is of {accepted.embedder.instruction_set}, this llama.cpp of {instruction_set()}")
    assert default_model.is_file()
    request = Request(
        corpus=str(longmemeval_s_file), file_format="longmemeval", reading=Reading(part=Slice(instances=1)), workers=2
    )
    (outcome,) = run_retrieval(
        request, root=cache_root(), report_dir=tmp_path, command=[], observer_for=lambda *_: Silent()
    )
    assert outcome.measurement.queries == accepted.queries[:1]
    assert outcome.measurement.embedder == accepted.embedder
