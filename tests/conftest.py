"""The real corpora and the real default model. What is not on this machine and cannot be fetched here is skipped."""

from pathlib import Path

import pytest

from membench.corpora.catalog import find_corpus
from membench.corpora.store import corpus_path
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import fetch_model
from membench.files.paths import cache_root

CORPORA = Path(__file__).parents[1].parent / "shared" / "corpora"


def _corpus_file(name: str, key: str) -> Path:
    path = CORPORA / name
    cached = corpus_path(find_corpus(key), cache_root())
    # What was fetched is the same corpus, save S: its local copy lacks an instance, and the tests count.
    if not path.is_file() and key != "longmemeval_s" and cached.is_file():
        return cached
    if not path.is_file():
        pytest.skip(f"{path} is absent; it is a copy of what this fetches: membench fetch {key}")
    return path


@pytest.fixture(scope="session")
def locomo_file() -> Path:
    return _corpus_file("locomo10.json", "locomo10")


@pytest.fixture(scope="session")
def oracle_file() -> Path:
    return _corpus_file("longmemeval_oracle.json.gz", "longmemeval_oracle")


@pytest.fixture(scope="session")
def longmemeval_s_file() -> Path:
    return _corpus_file("longmemeval_s_499.jsonl.gz", "longmemeval_s")


@pytest.fixture(scope="session")
def default_model() -> Path:
    """The file of the default model in the user's own cache folder, fetched into it once."""
    return fetch_model(MODELS[DEFAULT_MODEL], cache_root())
