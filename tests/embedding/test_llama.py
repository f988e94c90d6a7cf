"""The llama.cpp embedder with the real default model: the same bits whatever else is asked, and refusals."""

import math
import random
import shutil
import subprocess
import sys
import time

import gguf
import llama_cpp
import numpy as np
import pytest

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.llama import LlamaEmbedder, instruction_set
from membench.embedding.probe import PROBE_TEXTS
from membench.embedding.vectors import unit_vector
from membench.errors import ModelError, UsageError

X86_64_V3 = "AVX AVX2 BMI2 F16C FMA LLAMAFILE OPENMP REPACK SSE3 SSSE3"
PROBE_ON_X86_64_V3 = "cbd0355ad864f3ca0d34220d55fef23d5830a7daf05a96df6f6a1c288e98e4bf"

TEXTS = (
    "Caroline went to a support group yesterday.",
    "ok",
    "",
    "Привет, как дела? 明日の会議は午後三時からです。 🎉",
    "We walked along the river until the path ended. " * 8,
    "I adopted a dog from the shelter last weekend.",
)


def bits(vectors: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.atleast_2d(vectors)]


def test_a_text_has_the_same_bits_alone_among_others_and_in_any_order(default_llama: LlamaEmbedder):
    together = bits(default_llama.embed(TEXTS, "document").vectors)
    assert len(set(together)) == len(TEXTS)
    for text, row in zip(TEXTS, together, strict=True):
        assert bits(default_llama.embed([text], "document").vectors) == [row]
    order = list(range(len(TEXTS))) * 2
    random.Random(3).shuffle(order)
    assert bits(default_llama.embed([TEXTS[place] for place in order], "query").vectors) == [
        together[place] for place in order
    ]


def test_a_text_has_the_same_bits_in_a_fresh_embedder_of_one_worker(default_llama: LlamaEmbedder, open_llama):
    with open_llama(workers=1) as fresh:
        assert (fresh.workers, default_llama.workers) == (1, 2)
        assert fresh.identity == default_llama.identity
        assert bits(fresh.embed(TEXTS, "document").vectors) == bits(default_llama.embed(TEXTS, "document").vectors)


def test_vectors_are_those_of_a_bare_llama_of_one_thread(default_llama: LlamaEmbedder, default_model):
    bare = llama_cpp.Llama(
        str(default_model),
        embedding=True,
        n_ctx=512,
        n_batch=512,
        n_ubatch=512,
        n_threads=1,
        n_threads_batch=1,
        verbose=False,
    )
    texts = [*TEXTS, *PROBE_TEXTS[:9]]
    expected = []
    for text in texts:
        raw = bare.embed(text, normalize=False, truncate=False)
        norm = math.sqrt(math.fsum(component * component for component in raw))
        expected.append(np.array([component / norm for component in raw], dtype=np.float32).tobytes())
    bare.close()
    assert bits(default_llama.embed(texts, "document").vectors) == expected


def test_vectors_are_of_unit_length_and_the_width_of_the_model(default_llama: LlamaEmbedder):
    vectors = default_llama.embed(TEXTS, "document").vectors
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-6)


def test_no_texts_give_no_rows(default_llama: LlamaEmbedder):
    nothing = default_llama.embed([], "document")
    assert nothing.vectors.shape == (0, 384)
    assert nothing.tokens.shape == (0,)


def test_meaning_is_in_the_vectors(default_llama: LlamaEmbedder):
    dog, puppy, tax = default_llama.embed(
        ["I adopted a dog.", "We took in a puppy from the shelter.", "The tax return is due in March."], "document"
    ).vectors
    assert dog @ puppy > dog @ tax + 0.3


def test_cutting_keeps_the_opening_and_the_closing_token(default_llama: LlamaEmbedder, open_llama):
    long = "boat " * 100
    with open_llama(input_window=16) as narrow:
        cut = narrow.embed([long], "document")
        # 16 tokens: [CLS], fourteen boats, [SEP].
        assert bits(cut.vectors) == bits(default_llama.embed(["boat " * 14], "document").vectors)
        assert cut.tokens.tolist() == [102]
        assert narrow.tokens(long) == default_llama.tokens(long)


def test_a_narrower_window_changes_the_vectors_of_longer_texts_and_the_identity_alone(
    default_llama: LlamaEmbedder, open_llama
):
    with open_llama(input_window=64) as narrow:
        wide, cut = default_llama.embed(TEXTS, "document"), narrow.embed(TEXTS, "document")
        for text, count, before, after in zip(TEXTS, wide.tokens, bits(wide.vectors), bits(cut.vectors), strict=True):
            assert (before == after) == (count <= 64), text
        assert max(wide.tokens) > 64
        assert (narrow.identity.input_window, narrow.identity.model_window) == (64, 512)
        assert narrow.identity.probe != default_llama.identity.probe


def test_a_text_over_the_models_own_window_is_cut_to_it(default_llama: LlamaEmbedder):
    embedded = default_llama.embed(["boat " * 2000, "boat " * 510], "document")
    assert embedded.tokens.tolist() == [2002, 512]
    assert bits(embedded.vectors)[0] == bits(embedded.vectors)[1]


def test_the_smallest_window_keeps_the_special_tokens_and_two_of_the_text(default_llama: LlamaEmbedder, open_llama):
    with open_llama(input_window=4) as narrow:
        cut = narrow.embed(["red boat on the river", "red boat", ""], "document")
        assert cut.tokens.tolist() == [7, 4, 2]
        assert bits(cut.vectors) == bits(default_llama.embed(["red boat", "red boat", ""], "document").vectors)


# A megabyte: words, and a word without end, of which each "xx" is a token.
GIGANTIC = {"words": ("boat ", 200_000), "no blank": ("xx", 500_000)}


@pytest.mark.parametrize("name", GIGANTIC)
def test_a_gigantic_text_is_counted_whole_and_cut_to_the_window(name, default_llama: LlamaEmbedder):
    part, times = GIGANTIC[name]
    whole = default_llama.embed([part * times, part * 510, part * 7], "document")
    assert whole.tokens.tolist() == [times + 2, 512, 9]
    assert bits(whole.vectors)[0] == bits(whole.vectors)[1] != bits(whole.vectors)[2]


@pytest.mark.parametrize("name", GIGANTIC)
def test_tokenizing_a_gigantic_text_takes_time_in_proportion_to_its_length(name, default_llama: LlamaEmbedder):
    part, times = GIGANTIC[name]

    def seconds(count: int) -> float:
        begun = time.perf_counter()
        default_llama.tokens(part * count)
        return time.perf_counter() - begun

    # Ten times the text takes about ten times as long; if it took as the square, a hundred times.
    assert min(seconds(times) for _ in range(3)) < 40 * min(seconds(times // 10) for _ in range(5))


def test_gigantic_texts_take_little_memory(default_model):
    code = f"""
import resource, sys
from pathlib import Path
from membench.embedding.llama import LlamaEmbedder
with LlamaEmbedder(Path(sys.argv[1]), key="minilm", sha256="", workers=2) as embedder:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for part, times in {list(GIGANTIC.values())}:
        embedder.embed([part * times], "document")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code, default_model], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Kilobytes.
    assert int(done.stdout) < 200_000


@pytest.mark.parametrize("window", [-1, 0, 3, 513])
def test_a_window_that_the_model_does_not_have_is_a_usage_error(window, open_llama):
    with pytest.raises(UsageError, match=f"--input-window {window}: this model takes from 4 to 512 tokens"):
        open_llama(input_window=window)


def test_another_pooling_is_another_vector_space(default_llama: LlamaEmbedder, open_llama):
    probes = {default_llama.identity.probe}
    for pooling in ("cls", "last"):
        with open_llama(pooling=pooling) as embedder:
            assert embedder.identity.pooling == pooling
            probes.add(embedder.identity.probe)
    assert len(probes) == 3


def test_the_models_own_pooling_named_is_the_same_space(default_llama: LlamaEmbedder, open_llama):
    with open_llama(pooling="mean") as embedder:
        assert embedder.identity == default_llama.identity


def test_prompts_go_before_the_text_and_into_the_identity(default_llama: LlamaEmbedder, open_llama):
    with open_llama(document_prompt="passage: ", query_prompt="query: ") as prompted:
        for kind, prompt in (("document", "passage: "), ("query", "query: ")):
            expected = default_llama.embed([f"{prompt}a red boat"], kind)
            found = prompted.embed(["a red boat"], kind)
            assert bits(found.vectors) == bits(expected.vectors)
            assert found.tokens.tolist() == expected.tokens.tolist()
        assert (prompted.identity.document_prompt, prompted.identity.query_prompt) == ("passage: ", "query: ")
        assert prompted.identity.probe != default_llama.identity.probe


def test_the_identity_is_read_from_the_live_model(default_llama: LlamaEmbedder):
    identity = default_llama.identity
    assert (identity.kind, identity.key, identity.sha256) == ("llama.cpp", "minilm", MODELS[DEFAULT_MODEL].sha256)
    assert (identity.dimension, identity.pooling, identity.normalisation) == (384, "mean", "l2")
    assert (identity.input_window, identity.model_window) == (512, 512)
    assert identity.build == f"llama-cpp-python {llama_cpp.__version__}"
    assert identity.instruction_set == instruction_set()


def test_the_probe_of_the_default_model_is_pinned(default_llama: LlamaEmbedder):
    if default_llama.identity.instruction_set != X86_64_V3:
        pytest.skip(f"llama.cpp is built for {default_llama.identity.instruction_set}, the pin is for {X86_64_V3}")
    assert default_llama.identity.probe == PROBE_ON_X86_64_V3


# Model files that cannot be used.


@pytest.fixture
def altered(default_model, tmp_path):
    """A copy of the model, changed in place by a function of its reader."""

    def alter(change):
        path = tmp_path / "altered.gguf"
        shutil.copyfile(default_model, path)
        reader = gguf.GGUFReader(path, "r+")
        change(reader)
        reader.data.flush()
        return path

    return alter


def last_norm(reader: gguf.GGUFReader, value: float) -> None:
    for tensor in reader.tensors:
        if tensor.name.startswith("blk.5.layer_output_norm"):
            tensor.data[:] = value


@pytest.mark.parametrize(("value", "problem"), [(math.nan, "not finite"), (0.0, "every component is zero")])
def test_a_model_whose_output_is_no_number_or_nothing_is_refused(value, problem, altered, open_llama):
    path = altered(lambda reader: last_norm(reader, value))
    with pytest.raises(ModelError, match=f"unusable vector for 'A text that is longer.*{problem}"):
        open_llama(path)


def test_a_model_without_pooling_needs_one_by_name(altered, default_llama: LlamaEmbedder, open_llama):
    def unpool(reader: gguf.GGUFReader) -> None:
        reader.fields["bert.pooling_type"].parts[-1][0] = llama_cpp.LLAMA_POOLING_TYPE_NONE

    path = altered(unpool)
    with pytest.raises(ModelError, match="gives no vector for a whole text") as caught:
        open_llama(path)
    assert "--pooling" in str(caught.value.remedy)
    with open_llama(path, pooling="mean") as named:
        assert named.identity.probe == default_llama.identity.probe


def test_a_truncated_file_is_refused_with_llama_cpps_own_reason(default_model, tmp_path, open_llama):
    path = tmp_path / "half.gguf"
    path.write_bytes(default_model.read_bytes()[: default_model.stat().st_size // 2])
    with pytest.raises(ModelError, match=r"half\.gguf: llama\.cpp cannot load it: .*(bounds|corrupted|incomplete)"):
        open_llama(path)


def test_a_file_that_is_no_gguf_is_refused(tmp_path, open_llama):
    path = tmp_path / "other.gguf"
    path.write_bytes(b"no model at all" * 1000)
    with pytest.raises(ModelError, match=r"other\.gguf: llama\.cpp cannot load it"):
        open_llama(path)


# What is checked of every raw vector.


def test_a_unit_vector_is_the_raw_one_over_its_norm():
    raw = np.array([3.0, 0.0, -4.0], dtype=np.float32)
    assert unit_vector(raw, 3, "text").tolist() == [np.float32(0.6), 0.0, np.float32(-0.8)]


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_tiny_and_huge_components_keep_their_direction(scale):
    raw = np.array([3.0 * scale, 4.0 * scale], dtype=np.float32)
    assert unit_vector(raw, 2, "text") == pytest.approx([0.6, 0.8], rel=1e-6)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([0.0, 0.0], "every component is zero"),
        ([math.nan, 1.0], "a component is not finite"),
        ([math.inf, 1.0], "a component is not finite"),
        ([1.0], r"expected 2 components, found shape \(1,\)"),
        ([1.0, 2.0, 3.0], r"expected 2 components, found shape \(3,\)"),
        ([[1.0, 2.0]], r"expected 2 components, found shape \(1, 2\)"),
        ([], r"expected 2 components, found shape \(0,\)"),
    ],
    ids=str,
)
def test_an_unusable_vector_is_refused_by_the_text_that_it_is_of(raw, problem):
    with pytest.raises(ModelError, match=f"unusable vector for 'the text': {problem}"):
        unit_vector(np.array(raw, dtype=np.float32), 2, "the text")
