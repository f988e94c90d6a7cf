"""The embedder that remembers: each text once, the same bits, and a true tally."""

from dataclasses import replace
from pathlib import Path

import pytest

from membench.embedding.cache import VectorCache
from membench.embedding.cached import CachedEmbedder, EmbeddingTally
from membench.embedding.toy import ToyEmbedder


class Recording(ToyEmbedder):
    """The toy, which keeps what it is asked, with prompts as a real model may have."""

    def __init__(self, document_prompt: str = "", query_prompt: str = "") -> None:
        self.asked: list[list[str]] = []
        super().__init__()
        self.identity = replace(self.identity, document_prompt=document_prompt, query_prompt=query_prompt)
        self.asked.clear()

    def embed(self, texts, kind):
        self.asked.append(list(texts))
        return super().embed(texts, kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toy.sqlite"


def test_a_text_is_computed_once_however_often_it_is_asked():
    inner = Recording()
    embedder = CachedEmbedder(inner, None)
    first = embedder.embed(["red boat", "dog", "red boat"], "document")
    again = embedder.embed(["dog", "red boat", "lake"], "query")
    assert inner.asked == [["red boat", "dog"], ["lake"]]
    assert embedder.tally == EmbeddingTally(cached=0, computed=3)
    plain = ToyEmbedder()
    assert first.vectors.tobytes() == plain.embed(["red boat", "dog", "red boat"], "document").vectors.tobytes()
    assert again.vectors.tobytes() == plain.embed(["dog", "red boat", "lake"], "document").vectors.tobytes()
    assert first.tokens.tolist() == [2, 1, 2]


def test_no_texts_give_no_rows():
    assert CachedEmbedder(Recording(), None).embed([], "document").vectors.shape == (0, 256)


def test_after_forget_a_text_is_computed_again_without_a_cache():
    inner = Recording()
    embedder = CachedEmbedder(inner, None)
    embedder.embed(["dog"], "document")
    embedder.forget()
    embedder.embed(["dog"], "document")
    assert inner.asked == [["dog"], ["dog"]]
    assert embedder.tally.computed == 2


def test_after_forget_and_in_the_next_run_a_text_comes_from_the_cache(path):
    texts = [f"text {place}" for place in range(600)]
    inner = Recording()
    with VectorCache(path, 256) as cache:
        embedder = CachedEmbedder(inner, cache)
        fresh = embedder.embed(texts, "document")
        embedder.forget()
        kept = embedder.embed(texts, "document")
        assert embedder.tally == EmbeddingTally(cached=600, computed=600)
    # Committed a part at a time, so that an interrupted run loses little.
    assert [len(asked) for asked in inner.asked] == [64] * 9 + [24]
    with VectorCache(path, 256) as cache:
        later = CachedEmbedder(inner, cache)
        next_run = later.embed(["new", *texts], "document")
        assert later.tally == EmbeddingTally(cached=600, computed=1)
    assert fresh.vectors.tobytes() == kept.vectors.tobytes() == next_run.vectors[1:].tobytes()
    assert fresh.tokens.tolist() == kept.tokens.tolist() == next_run.tokens[1:].tolist()


def test_a_damaged_row_is_computed_again_to_the_same_bits(path, caplog):
    with VectorCache(path, 256) as cache:
        fresh = CachedEmbedder(Recording(), cache).embed(["dog", "boat"], "document")
    content = bytearray(path.read_bytes())
    content[content.index(fresh.vectors[0].tobytes()) + 3] ^= 1
    path.write_bytes(content)
    with VectorCache(path, 256) as cache:
        embedder = CachedEmbedder(Recording(), cache)
        assert embedder.embed(["dog", "boat"], "document").vectors.tobytes() == fresh.vectors.tobytes()
        assert embedder.tally == EmbeddingTally(cached=1, computed=1)
    assert "thrown away" in caplog.text


def test_a_document_and_a_query_with_other_prompts_are_other_texts():
    inner = Recording("passage: ", "query: ")
    embedder = CachedEmbedder(inner, None)
    embedder.embed(["dog"], "document")
    embedder.embed(["dog"], "query")
    assert embedder.tally.computed == 2


def test_its_identity_is_the_inner_ones():
    inner = Recording()
    assert CachedEmbedder(inner, None).identity is inner.identity
