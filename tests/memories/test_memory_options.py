"""Names, options and values that a memory does not have."""

import pytest

from membench.embedding.toy import ToyEmbedder
from membench.errors import UsageError
from membench.memories.catalog import SETTINGS, build_memory, settings_of


def test_an_unknown_memory_gets_the_nearest_name_and_the_list():
    with pytest.raises(UsageError) as caught:
        build_memory("epsiodic", {}, ToyEmbedder())
    assert "epsiodic" in caught.value.what
    assert "Did you mean episodic?" in str(caught.value)
    assert "bm25" in str(caught.value)


@pytest.mark.parametrize(
    ("memory", "option", "nearest"), [("episodic", "decay_rat", "decay_rate"), ("bm25", "steming", "stemming")]
)
def test_an_unknown_option_gets_the_nearest_name_and_the_list(memory, option, nearest):
    with pytest.raises(UsageError) as caught:
        settings_of(memory, {option: "1"})
    assert f"'{option}'" in caught.value.what
    assert f"Did you mean {nearest}?" in str(caught.value)
    for known in SETTINGS[memory].model_fields:
        assert known in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("memory", "option", "value"),
    [
        ("episodic", "decay_rate", "fast"),
        ("episodic", "decay_rate", "nan"),
        ("episodic", "decay_rate", "inf"),
        ("episodic", "decay_rate", "none"),
        ("episodic", "score_decimals", "-1"),
        ("episodic", "score_decimals", "2.5"),
        ("episodic", "mmr", "maybe"),
        ("episodic", "mmr_lambda", "1.1"),
        ("episodic", "dedup", "none"),
        ("episodic", "dedup_threshold", "-1.5"),
        ("episodic", "min_chars", "-1"),
        ("episodic", "max_chars", "0"),
        ("episodic", "episodic_max", "0"),
        ("episodic", "candidates", "none"),
        ("episodic", "backend", "gpu"),
        ("episodic", "backend", ""),
        ("bm25", "k1", "-0.1"),
        ("bm25", "b", "2"),
        ("bm25", "stemming", "english"),
    ],
)
def test_a_bad_value_is_named_with_its_option_and_the_default_as_a_hint(memory, option, value):
    with pytest.raises(UsageError) as caught:
        settings_of(memory, {option: value})
    assert caught.value.what.startswith(f"The memory option {option}={value}: ")
    assert f"{option}=" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("score_decimals", "none", None),
        ("max_chars", "none", None),
        ("episodic_max", "none", None),
        ("mmr", "off", False),
        ("dedup", "on", True),
        ("mmr_lambda", "0.25", 0.25),
        ("candidates", "7", 7),
        ("backend", "cosine", "cosine"),
    ],
)
def test_options_are_read_as_the_command_writes_them(option, value, expected):
    assert getattr(settings_of("episodic", {option: value}), option) == expected


def test_the_defaults_are_those_of_the_memory_that_is_modelled():
    assert settings_of("episodic", {}).model_dump() == {
        "decay_rate": 0.03,
        "score_decimals": 4,
        "mmr": True,
        "mmr_lambda": 0.6,
        "dedup": True,
        "dedup_threshold": 0.88,
        "min_chars": 10,
        "max_chars": 2000,
        "episodic_max": 10_000,
        "candidates": 1000,
        "backend": "faiss",
    }
