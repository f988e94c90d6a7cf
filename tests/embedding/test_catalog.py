import dataclasses
import re
from urllib.parse import urlsplit

import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS, TIERS, ModelPin, find_model
from membench.errors import UsageError

UPSTREAM = [pin for pin in MODELS.values() if pin.url is not None]


def test_the_five_models_in_order_with_the_default_first() -> None:
    assert list(MODELS) == [
        "all-minilm-l6-v2",
        "qwen3-embedding-0.6b",
        "nomic-embed-text-v1.5",
        "bge-small-en-v1.5",
        "embeddinggemma-300m",
    ]
    assert next(iter(MODELS)) == DEFAULT_MODEL


@pytest.mark.parametrize("pin", MODELS.values(), ids=lambda pin: pin.key)
def test_a_pin_is_well_formed(pin: ModelPin) -> None:
    assert MODELS[pin.key] is pin
    assert re.fullmatch(r"[0-9a-f]{64}", pin.sha256)
    assert pin.file.endswith(".gguf")
    assert pin.size > 30_000_000
    assert pin.tier in TIERS
    assert pin.title
    assert pin.source
    assert pin.licence
    # A prompt is glued to the text: without its blank the first word would change.
    assert pin.document_prompt == "" or pin.document_prompt.endswith(" ")
    assert pin.query_prompt == "" or pin.query_prompt.endswith(" ")


def test_no_two_models_share_a_file() -> None:
    assert len({pin.sha256 for pin in MODELS.values()}) == len(MODELS)


@pytest.mark.parametrize("pin", UPSTREAM, ids=lambda pin: pin.key)
def test_an_upstream_url_names_a_commit_and_the_pinned_file(pin: ModelPin) -> None:
    url = urlsplit(pin.url)
    assert (url.scheme, url.netloc) == ("https", "huggingface.co")
    owner, name, verb, revision, file = url.path.strip("/").split("/")
    assert verb == "resolve"
    assert re.fullmatch(r"[0-9a-f]{40}", revision)
    assert file == pin.file
    assert f"{owner}/{name}" in pin.source
    assert revision in pin.source


def test_only_what_was_converted_here_claims_to_be_verified() -> None:
    assert [pin.key for pin in MODELS.values() if pin.tier == "verified"] == [DEFAULT_MODEL]
    assert MODELS[DEFAULT_MODEL].url is None
    assert "not downloaded here" in TIERS["pinned-upstream"]


def test_how_vectors_are_taken() -> None:
    taken = {pin.key: (pin.dimension, pin.pooling, pin.document_prompt, pin.query_prompt) for pin in MODELS.values()}
    assert taken == {
        "all-minilm-l6-v2": (384, "mean", "", ""),
        "qwen3-embedding-0.6b": (1024, "last", "", ""),
        "nomic-embed-text-v1.5": (768, "mean", "search_document: ", "search_query: "),
        "bge-small-en-v1.5": (384, "cls", "", ""),
        "embeddinggemma-300m": (768, "mean", "title: none | text: ", "task: search result | query: "),
    }


def test_find_model() -> None:
    assert find_model("bge-small-en-v1.5") is MODELS["bge-small-en-v1.5"]


def test_an_unknown_model_is_a_usage_error_with_the_closest_and_all_keys() -> None:
    with pytest.raises(UsageError) as caught:
        find_model("all-minilm-l6-v3")
    assert "'all-minilm-l6-v3'" in caught.value.what
    assert caught.value.remedy is not None
    assert "Did you mean all-minilm-l6-v2?" in caught.value.remedy
    assert all(key in caught.value.remedy for key in MODELS)


def test_no_guess_for_what_resembles_nothing() -> None:
    with pytest.raises(UsageError) as caught:
        find_model("zzzzzz")
    assert "Did you mean" not in str(caught.value)


def test_pins_and_catalog_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        MODELS[DEFAULT_MODEL].size = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        MODELS["mine"] = MODELS[DEFAULT_MODEL]  # type: ignore[index]
