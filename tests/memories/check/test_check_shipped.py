"""The memories that ship with membench keep the contract, with the real default model."""

import pytest

from membench.embedding.catalog import DEFAULT_MODEL
from membench.embedding.toy import ToyEmbedder
from membench.errors import UsageError
from membench.files.paths import cache_root
from membench.memories.catalog import build_memory
from membench.memories.check.report import CheckReport
from membench.memories.check.run import CheckRequest, check_spec


def checked(spec, **asked):
    told = []
    report = check_spec(CheckRequest(spec, **asked), root=cache_root(), told=told.append)
    assert report.results == told
    return report


def test_episodic(default_model):
    del default_model
    report = checked("episodic", workers=2)
    assert [result for result in report.results if result.holds is False] == []
    assert [result.name for result in report.results if result.holds is None] == ["concurrent"]
    assert report.holds
    assert report.memory.name == "episodic"
    assert report.memory.backend == "faiss"
    reasons = {result.name: result.reason for result in report.results}
    # The rules judge something: nearly all is stored, and what is refused is refused.
    assert reasons["visible"].startswith("260 units")
    assert "5 stored, 2 duplicate, 2 refused" in reasons["receipts"]
    assert "change its answers" in reasons["as_of"]


@pytest.mark.parametrize("options", [{}, {"stemming": "off", "b": "0"}])
def test_bm25(options):
    report = checked("bm25", options=options)
    assert [result for result in report.results if result.holds is False] == []
    assert [result.name for result in report.results if result.holds is None] == ["concurrent"]
    assert CheckReport.model_validate_json(report.model_dump_json(by_alias=True)) == report


@pytest.mark.parametrize("options", [{}, {"decay_rate": "0"}])
def test_without_decay_no_date_makes_a_difference_and_the_memory_says_so(judge, options):
    memory = build_memory("episodic", options, ToyEmbedder())
    assert memory.describe().honours_as_of == (not options)
    results = judge(memory)
    assert [name for name, result in results.items() if result.holds is False] == []


def test_a_model_for_a_memory_without_one_is_refused():
    with pytest.raises(UsageError, match="uses no embedder"):
        checked("bm25", model=DEFAULT_MODEL)
