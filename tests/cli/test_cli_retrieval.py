"""`membench retrieval` from end to end, with the real model and with what stands in for it."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from membench.reports.canonical import canonical_json
from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance

SLICE = ("sample", "--instances", "1", "--queries", "8")
STEM = "sample.now.instances-1.queries-8"
SUFFIXES = ("json", "md", "provenance.json", "rankings.jsonl.gz")


@pytest.fixture(scope="module")
def measured(new_command):
    """The command, the same slice measured with a cold cache, and once more with a warm one as JSON."""
    command = new_command()
    cold = command("retrieval", *SLICE, "--workers", "2")
    assert cold.returncode == 0, cold.stderr
    first = {path.name: path.read_bytes() for path in (command.folder / "reports").iterdir()}
    warm = command("retrieval", *SLICE, "--workers", "1", "--json", "--report-dir", "again")
    assert warm.returncode == 0, warm.stderr
    return command, cold, first, warm


def test_the_files_are_written_and_nothing_else(measured):
    command, _, first, _ = measured
    assert sorted(first) == [f"{STEM}.{suffix}" for suffix in SUFFIXES]
    assert sorted(path.name for path in command.folder.iterdir()) == ["again", "reports"]


def test_the_table_shows_the_figures_of_the_measurement(measured):
    _, cold, first, _ = measured
    measurement = Measurement.model_validate_json(first[f"{STEM}.json"])
    headline = measurement.metrics.session.recall_all
    shown = re.search(r"^session recall_all +(.+)$", cold.stdout, re.MULTILINE)
    assert shown is not None, cold.stdout
    assert shown[1].split()[:5] == [f"{headline[k].value:.4f}" for k in ("1", "3", "5", "8", "10")]
    assert shown[1].split()[-1] == f"{measurement.metrics.session.mrr.value:.4f}"
    assert re.search(r"^turn queries +7 +7 +7 +7 +7 +7 +7$", cold.stdout, re.MULTILINE)
    assert "7 of 8 queries scored (1 unanswerable, 0 without gold)" in cold.stdout
    assert f"reports/{STEM}.md" in cold.stdout


def test_a_clean_run_says_nothing_on_standard_error(measured):
    _, cold, _, warm = measured
    assert (cold.stderr, warm.stderr) == ("", "")


def test_the_measurement_is_clean_canonical_and_names_the_model_that_was_used(measured):
    _, _, first, _ = measured
    body = first[f"{STEM}.json"]
    measurement = Measurement.model_validate_json(body)
    assert canonical_json(measurement) == body
    assert (measurement.status, measurement.reasons) == ("clean", [])
    assert measurement.embedder is not None
    assert (measurement.embedder.kind, measurement.embedder.key) == ("llama.cpp", "all-minilm-l6-v2")
    assert measurement.arm.name == STEM.removeprefix("sample.")


def test_the_measurement_is_the_same_bytes_with_a_warm_cache_and_other_workers(measured):
    command, _, first, _ = measured
    for suffix in ("json", "rankings.jsonl.gz"):
        assert (command.folder / "again" / f"{STEM}.{suffix}").read_bytes() == first[f"{STEM}.{suffix}"]
    reports = [(command.folder / "again" / f"{STEM}.md").read_bytes(), first[f"{STEM}.md"]]
    # The last section is of what varies from night to night.
    beginnings = [report.partition(b"\n## How long the calls took\n")[0] for report in reports]
    assert beginnings[0] == beginnings[1] != reports[0]


def test_provenance_fits_the_other_files_and_tells_a_cold_cache_from_a_warm_one(measured):
    command, _, first, _ = measured
    cold = Provenance.model_validate_json(first[f"{STEM}.provenance.json"])
    assert cold.measurement_sha256 == hashlib.sha256(first[f"{STEM}.json"]).hexdigest()
    lines = gzip.decompress(first[f"{STEM}.rankings.jsonl.gz"])
    assert cold.rankings_sha256 == hashlib.sha256(lines).hexdigest()
    assert cold.command == ["membench", "retrieval", *SLICE, "--workers", "2"]
    warm = Provenance.model_validate_json((command.folder / "again" / f"{STEM}.provenance.json").read_bytes())
    assert cold.embedding is not None
    assert warm.embedding is not None
    assert (cold.embedding.cached, warm.embedding.computed) == (0, 0)
    assert cold.embedding.computed == warm.embedding.cached > 200


def test_json_output_is_for_a_program(measured):
    command, _, first, warm = measured
    (summary,) = json.loads(warm.stdout)
    measurement = Measurement.model_validate_json(first[f"{STEM}.json"])
    assert (summary["stem"], summary["status"], summary["reasons"]) == (STEM, "clean", [])
    assert summary["metrics"] == measurement.metrics.model_dump(mode="json")
    assert (command.folder / summary["measurement"]).read_bytes() == first[f"{STEM}.json"]
    assert (command.folder / summary["report"]).is_file()


def test_the_toy_embedder_says_so_everywhere(membench):
    shown, printed = membench.all(
        [
            ("retrieval", *SLICE, "--toy-embedder"),
            ("retrieval", *SLICE, "--toy-embedder", "--json", "--report-dir", "as json"),
        ]
    )
    assert (shown.returncode, printed.returncode) == (0, 0)
    assert "NOT CLEAN: measured with the toy embedder" in shown.stderr
    (summary,) = json.loads(printed.stdout)
    assert summary["status"] == "unclean"
    assert "toy embedder" in summary["reasons"][0]
    measurement = Measurement.model_validate_json((membench.folder / "reports" / f"{STEM}.toy.json").read_bytes())
    assert measurement.status == "unclean"
    assert "toy embedder" in measurement.reasons[0]
    markdown = (membench.folder / "reports" / f"{STEM}.toy.md").read_text()
    assert "**This measurement is not clean.**" in markdown
    assert "toy embedder" in markdown


def test_several_arms_share_one_run_and_each_has_its_files(membench):
    finished = membench(
        "retrieval", *SLICE, "--memory", "bm25", "--timeline", "anchored", "--timeline", "now", "--timeline", "now"
    )
    assert finished.returncode == 0
    slices = "instances-1.queries-8.bm25"
    assert membench.reports() == [f"sample.{arm}.{slices}.{end}" for arm in ("anchored", "now") for end in SUFFIXES]


def test_a_memory_without_vectors_needs_no_model_and_logs_nothing(membench):
    for model in (membench.cache / "models").iterdir():
        model.unlink()
    finished = membench("retrieval", *SLICE, "--memory", "bm25")
    assert (finished.returncode, finished.stderr) == (0, "")
    measurement = Measurement.model_validate_json((membench.folder / "reports" / f"{STEM}.bm25.json").read_bytes())
    assert (measurement.embedder, measurement.status) == (None, "clean")


def test_what_looks_like_markup_in_a_path_is_printed_as_it_is(membench):
    folder = "odd [/red] :smile: [b]"
    finished = membench("retrieval", *SLICE, "--memory", "bm25", "--report-dir", folder)
    assert finished.returncode == 0
    assert f"report: {folder}/{STEM}.bm25.md" in finished.stdout


def test_an_arm_of_very_many_settings_can_still_be_written(membench):
    options = {
        "decay_rate": 0.123456,
        "score_decimals": "none",
        "mmr": "off",
        "mmr_lambda": 0.55,
        "dedup": "off",
        "dedup_threshold": 0.8765,
        "min_chars": 20,
        "max_chars": "none",
        "episodic_max": "none",
        "candidates": 555,
        "backend": "cosine",
    }
    flags = [part for name, value in options.items() for part in ("--memory-option", f"{name}={value}")]
    finished = membench("retrieval", *SLICE, "--toy-embedder", "--granularity", "chunk", "--chunk-size", "333", *flags)
    assert finished.returncode == 0, finished.stderr
    assert len(membench.reports()) == 4


# A real corpus of the catalog.


def test_an_altered_corpus_is_refused_and_removed(membench):
    altered = membench.cache / "corpora" / "locomo10.json"
    altered.parent.mkdir()
    altered.write_text("[]")
    finished = membench("retrieval", "locomo10")
    assert finished.returncode == 1
    assert "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4" in finished.stderr
    assert hashlib.sha256(b"[]").hexdigest() in finished.stderr
    assert "Run: membench fetch locomo10" in finished.stderr
    assert not altered.exists()
    assert membench.reports() == []


def test_locomo_is_imported_and_measured(membench, locomo_file: Path):
    fetched = membench("fetch", "locomo10", "--from", locomo_file)
    assert fetched.returncode == 0, fetched.stderr
    assert (membench.cache / "corpora" / "locomo10.json").read_bytes() == locomo_file.read_bytes()
    finished = membench("retrieval", "locomo10", "--memory", "bm25", "--instances", "1", "--json")
    assert finished.returncode == 0, finished.stderr
    (summary,) = json.loads(finished.stdout)
    assert summary["stem"] == "locomo10.now.instances-1.bm25"
    assert summary["counts"] == {"scored": 149, "unanswerable": 47, "without_gold": 3}
