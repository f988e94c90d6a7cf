"""What makes two measurements incomparable: each reason by itself, and no field that nobody has thought of."""

from typing import Any

import pytest
from remeasured import PART, measured

from membench.compare.compare import compare
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.reports.loading import OtherSchema
from membench.reports.measurement import ArmSettings, Corpus, Embedder, Measurement, Memory

ALLOWED = None
EQUAL_PROBE = "an equal probe means an equal vector space"

# For each field another value, and what is then refused; ALLOWED stands with the reason for which nothing is.
CORPUS: dict[str, tuple[Any, str | None, str]] = {
    "key": ("another", ALLOWED, "the fingerprint says what the texts are"),
    "fingerprint": ("0" * 64, "corpus fingerprint", ""),
    "gold": ("repaired", "gold reading", ""),
    "instances": (999, ALLOWED, "follows from the fingerprint"),
    "sessions": (999, ALLOWED, "follows from the fingerprint"),
    "turns": (999, ALLOWED, "follows from the fingerprint"),
    "queries": (999, ALLOWED, "follows from the fingerprint"),
    "slice": ({"instances": 7}, "slice", ""),
    "quirks": ({"blank_turns": 7}, ALLOWED, "follows from the fingerprint"),
}
ARM: dict[str, tuple[Any, str | None, str]] = {
    "name": ("another", ALLOWED, "follows from the settings"),
    "timeline": ("literal", "retrieval: timeline", ""),
    "as_of": ("2024-01-31", "retrieval: as_of", ""),
    "granularity": ("chunk", "ingest: granularity", ""),
    "chunk_size": (77, "ingest: chunk_size", ""),
    "pool": ("shared", "pool", ""),
    "roles": ("user", "ingest: roles", ""),
    "captions": ("not", "ingest: captions", ""),
    "speakers": ("not", "ingest: speakers", ""),
    "limit": (77, "retrieval: limit", ""),
    "cut_offs": ([1, 5], ALLOWED, "those that both have are compared"),
}
MEMORY: dict[str, tuple[Any, str | None, str]] = {
    "name": ("another", "memory identity", ""),
    "version": ("another", "memory identity", ""),
    "backend": ("another", "memory backend", ""),
    "options": ({"another": True}, "memory setting: another", ""),
    "noisy": (True, "noise", ""),
}
EMBEDDER: dict[str, tuple[Any, str | None, str]] = {
    "probe": ("0" * 64, "embedder", ""),
    **dict.fromkeys(("kind", "key", "sha256", "pooling", "normalisation"), ("another", ALLOWED, EQUAL_PROBE)),
    **dict.fromkeys(("document_prompt", "query_prompt", "build", "instruction_set"), ("another", ALLOWED, EQUAL_PROBE)),
    **dict.fromkeys(("dimension", "input_window", "model_window"), (77, ALLOWED, EQUAL_PROBE)),
}
PARTS = {
    "corpus": (Corpus, CORPUS),
    "arm": (ArmSettings, ARM),
    "memory": (Memory, MEMORY),
    "embedder": (Embedder, EMBEDDER),
}
# What else there is in a measurement, and what of it can be refused.
WHOLE = {
    "schema_": "another version is none that can be read",
    "status": "refused unless clean",
    "reasons": "refused where there is one",
    **dict.fromkeys(PARTS, "field by field, above"),
    "inputs": "what came of it: the lengths of what the memory has embedded",
    "counts": "refused unless all that are scored are there",
    "accounting": "what came of it",
    "metrics": "what came of it",
    "omitted": "what came of it",
    "by_category": "what came of it",
    "queries": "their ids and gold are refused where they differ; their ranks are what is compared",
}


def whats(baseline: Measurement, candidate: Measurement) -> list[str]:
    comparison = compare(baseline, candidate)
    assert bool(comparison.refusals) == (comparison.metrics is None)
    assert bool(comparison.refusals) <= (comparison.verdict == "not comparable")
    return [refusal.what for refusal in comparison.refusals]


def test_no_field_is_forgotten():
    assert set(Measurement.model_fields) == set(WHOLE)
    for model, fields in PARTS.values():
        assert set(fields) == set(model.model_fields), model
        assert all(reason or what for _, what, reason in fields.values())


@pytest.mark.parametrize(("part", "field"), [(part, field) for part, (_, fields) in PARTS.items() for field in fields])
def test_a_field_that_differs_is_refused_or_allowed_for_a_reason(part, field, few):
    baseline = few
    value, what, _ = PARTS[part][1][field]
    group = getattr(baseline, part)
    old = getattr(group, field)
    if value == "not":
        value = not old
    elif isinstance(value, dict):
        value = {**old, **value} if isinstance(old, dict) else old.model_copy(update=value)
    assert value != old
    candidate = baseline.model_copy(update={part: group.model_copy(update={field: value})})
    assert whats(baseline, candidate) == ([] if what is ALLOWED else [what])
    assert whats(candidate, baseline) == ([] if what is ALLOWED else [what])


def test_the_accepted_baselines_are_refused_for_what_sets_them_apart(accepted):
    now, anchored = accepted["locomo10.now"], accepted["locomo10.anchored"]
    exact = accepted["locomo10.anchored.score_decimals-none"]
    comparison = compare(now, anchored)
    (refusal,) = comparison.refusals
    assert (refusal.what, refusal.baseline, refusal.candidate) == ("retrieval: timeline", "now", "anchored")
    assert comparison.rule == refusal.reason
    assert (comparison.metrics, comparison.set_aside, comparison.by_category, comparison.flips) == (None, [], [], [])
    (refusal,) = compare(anchored, exact).refusals
    assert (refusal.what, refusal.baseline, refusal.candidate) == ("memory setting: score_decimals", "4", "none")
    assert whats(now, exact) == ["retrieval: timeline", "memory setting: score_decimals"]


def test_an_accepted_baseline_is_unchanged_from_itself(accepted):
    measurement = accepted["locomo10.anchored"]
    comparison = compare(measurement, measurement)
    assert (comparison.verdict, comparison.identical, comparison.notices) == ("unchanged", True, [])
    assert comparison.baseline == comparison.candidate


REALLY = {
    "granularity": ({"granularity": "session"}, ["ingest: granularity"]),
    "chunks": ({"granularity": "chunk"}, ["ingest: granularity", "ingest: chunk_size"]),
    "timeline": ({"timelines": ("anchored",)}, ["retrieval: timeline"]),
    "limit": ({"limit": 21}, ["retrieval: limit"]),
    "option": ({"memory_options": {"k1": "1.4"}}, ["memory setting: k1"]),
    "speakers": ({"reading": Reading(speakers=True, part=PART.part)}, ["corpus fingerprint", "ingest: speakers"]),
    "slice": ({"reading": Reading(part=Slice(1, 29))}, ["corpus fingerprint", "slice"]),
    "memory": (
        {"memory": "episodic", "toy": True},
        ["status", "memory identity", "memory backend", "embedder"],
    ),
}


@pytest.mark.parametrize("name", REALLY)
def test_what_is_really_measured_otherwise_is_refused(name, clean, tmp_path):
    asked, expected = REALLY[name]
    found = whats(clean, measured(tmp_path, **asked))
    assert [what for what in found if not (name == "memory" and what.startswith("memory setting"))] == expected


def test_of_two_measurements_by_the_toy_embedder_neither_is_a_result(tmp_path):
    toy = measured(tmp_path, memory="episodic", toy=True)
    comparison = compare(toy, toy)
    assert [(one.what, one.baseline, one.candidate) for one in comparison.refusals] == [
        ("status", "unclean", None),
        ("status", None, "unclean"),
    ]
    assert "the baseline is not clean: " in comparison.refusals[0].reason
    assert comparison.rule == "2 reasons against it"


def test_every_reason_that_a_side_is_not_clean_is_named(clean):
    unclean = clean.model_copy(update={"status": "unclean", "reasons": ["one", "two"]})
    assert [one.reason for one in compare(clean, unclean).refusals] == [
        "the candidate is not clean: one",
        "the candidate is not clean: two",
    ]
    silent = clean.model_copy(update={"status": "unclean", "reasons": []})
    assert whats(clean, silent) == ["status"]


def test_a_part_of_a_run_is_refused(clean):
    part = clean.model_copy(update={"queries": clean.queries[:-1]})
    assert whats(clean, part) == ["completeness", "queries"]
    assert whats(part, part) == ["completeness", "completeness"]


def test_other_gold_under_the_same_fingerprint_is_refused(clean):
    query = clean.queries[0]
    other = query.model_copy(update={"gold_turns": [f"{turn}x" for turn in query.gold_turns]})
    assert whats(clean, clean.model_copy(update={"queries": [other, *clean.queries[1:]]})) == ["queries"]


def test_a_memory_without_vectors_is_not_compared_with_one_that_has_them(accepted):
    now = accepted["locomo10.now"]
    assert whats(now, now.model_copy(update={"embedder": None})) == ["embedder"]


def test_measurements_without_a_common_cut_off_are_refused(clean):
    arm = clean.arm.model_copy(update={"cut_offs": [2, 4]})
    assert whats(clean, clean.model_copy(update={"arm": arm})) == ["cut-offs"]


def test_a_cut_off_of_one_side_is_told(clean):
    arm = clean.arm.model_copy(update={"cut_offs": [1, 5]})
    comparison = compare(clean, clean.model_copy(update={"arm": arm}))
    assert comparison.notices == ["only the baseline was scored at 3, 8, 10, 20"]
    assert comparison.metrics is not None
    assert set(comparison.metrics.session.recall_all) <= {"1", "5"}


def test_a_first_baseline_has_nothing_to_be_compared_with(clean):
    comparison = compare(None, clean)
    assert (comparison.verdict, comparison.baseline) == ("not comparable", None)
    assert comparison.rule == "there is no baseline of this name yet"


@pytest.mark.parametrize(
    ("number", "age", "remedy"), [(0, "older", "accept the result"), (2, "newer", "or a newer one")]
)
def test_another_schema_is_refused_with_what_to_do(number, age, remedy, clean):
    other = OtherSchema(f"membench.measurement/{number}", age)
    for comparison, of in ((compare(other, clean), "baseline"), (compare(clean, other), "candidate")):
        (refusal,) = comparison.refusals
        assert refusal.what == "schema"
        assert getattr(refusal, of) == other.schema
        assert f"the {of} is of a" in refusal.reason
        assert remedy in refusal.reason
        assert getattr(comparison, of) is None
