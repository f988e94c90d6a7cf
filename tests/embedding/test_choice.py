"""From a key or a path to a live embedder."""

import shutil

import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.choice import EmbedderChoice, load_embedder
from membench.embedding.store import model_path
from membench.errors import ModelError, UsageError
from membench.files.digest import sha256_of
from membench.files.paths import cache_root


def test_the_default_is_the_catalogs_model_as_the_catalog_has_it(default_llama):
    with load_embedder(EmbedderChoice(), cache_root(), workers=1) as embedder:
        assert embedder.identity.key == DEFAULT_MODEL
        assert embedder.identity.sha256 == MODELS[DEFAULT_MODEL].sha256
        assert embedder.identity.pooling == MODELS[DEFAULT_MODEL].pooling
        assert embedder.identity.probe == default_llama.identity.probe


def test_a_path_is_loaded_with_its_own_digest_and_name(default_model, tmp_path):
    path = tmp_path / "my model.v2.gguf"
    shutil.copyfile(default_model, path)
    choice = EmbedderChoice(str(path), document_prompt="passage: ", input_window=100)
    with load_embedder(choice, tmp_path, workers=1) as embedder:
        identity = embedder.identity
        assert identity.key == "my model.v2"
        assert identity.sha256 == sha256_of(default_model)
        assert (identity.document_prompt, identity.query_prompt, identity.input_window) == ("passage: ", "", 100)
        assert identity.pooling == "mean"


def test_an_unknown_key_gets_the_nearest_one(tmp_path):
    with pytest.raises(UsageError, match="all-minilm-l6") as caught:
        load_embedder(EmbedderChoice("all-minilm-l6"), tmp_path, workers=1)
    assert "Did you mean all-minilm-l6-v2?" in str(caught.value)


def test_an_absent_model_names_the_command_that_fetches_it(tmp_path):
    with pytest.raises(ModelError) as caught:
        load_embedder(EmbedderChoice(), tmp_path, workers=1)
    assert "membench fetch all-minilm-l6-v2" in str(caught.value.remedy)


def test_a_stored_model_of_another_digest_is_refused_and_removed(tmp_path):
    pin = MODELS[DEFAULT_MODEL]
    path = model_path(pin, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"GGUF but not that one")
    with pytest.raises(ModelError, match=f"had SHA-256 {sha256_of(path)} .*expected {pin.sha256}"):
        load_embedder(EmbedderChoice(), tmp_path, workers=1)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"not a model at all", b"GGUF"], ids=["empty", "text", "header only"])
def test_a_path_to_no_model_is_refused(content, tmp_path):
    path = tmp_path / "mine.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"mine\.gguf"):
        load_embedder(EmbedderChoice(str(path)), tmp_path, workers=1)


def test_a_path_to_a_truncated_model_is_refused(default_model, tmp_path):
    path = tmp_path / "half.gguf"
    path.write_bytes(default_model.read_bytes()[:20_000_000])
    with pytest.raises(ModelError, match="truncated or damaged GGUF"):
        load_embedder(EmbedderChoice(str(path)), tmp_path, workers=1)


def test_a_path_to_nothing_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no model file at"):
        load_embedder(EmbedderChoice(str(tmp_path / "none.gguf")), tmp_path, workers=1)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (EmbedderChoice(), {}),
        (EmbedderChoice(pooling="mean", document_prompt="", query_prompt="", input_window=64), {}),
        (EmbedderChoice(pooling="last"), {"pooling": "last"}),
        (EmbedderChoice(query_prompt="query: "), {"query_prompt": "query: "}),
        (EmbedderChoice("nomic-embed-text-v1.5", query_prompt="search_query: "), {}),
        (EmbedderChoice("nomic-embed-text-v1.5", query_prompt=""), {"query_prompt": ""}),
        (EmbedderChoice("mine.gguf", pooling="mean"), {"pooling": "mean"}),
    ],
    ids=str,
)
def test_overrides_are_what_differs_from_the_catalog(choice, expected):
    assert choice.overrides() == expected
