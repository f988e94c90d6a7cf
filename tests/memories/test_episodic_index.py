"""FAISS proposes and float64 decides: order, ties and forgetting, at sizes where FAISS is really asked."""

import random

import numpy as np
import pytest
from literal_episodic import GivenVectors, LiteralEpisodic, days_later, unit, unit_vectors

from membench.memories.episodic import store as store_module


def named(embedder: GivenVectors, vectors: np.ndarray) -> list[str]:
    texts = [f"{number:04d} told about it" for number in range(len(vectors))]
    embedder.vectors.update(zip(texts, vectors.tolist(), strict=True))
    return texts


@pytest.mark.parametrize("dimension", [7, 33, 385])
@pytest.mark.parametrize("candidates", [10, 1000])
def test_equal_vectors_tie_in_insertion_order_wherever_they_stand(dimension, candidates, open_episodic):
    embedder = GivenVectors(dimension)
    vectors = unit_vectors(300, dimension, seed=dimension)
    twins = [*range(0, 300, 9), 298, 299]
    vectors[twins] = unit_vectors(1, dimension, seed=1)[0]
    texts = named(embedder, vectors)
    embedder.vectors["what?"] = unit_vectors(1, dimension, seed=1)[0].tolist()
    store = open_episodic(embedder, dedup="off", mmr="off", score_decimals="none", candidates=candidates)
    store.write([unit(number, text) for number, text in enumerate(texts)])
    hits = store.search("what?", len(twins), None)
    expected = sorted(twins)[: min(len(twins), candidates)]
    assert [hit.unit for hit in hits][: len(expected)] == [f"u{number}" for number in expected]
    assert len({hit.score for hit in hits[: len(expected)]}) == 1


def test_more_equal_rows_than_faiss_proposes_still_tie_in_insertion_order(open_episodic):
    embedder = GivenVectors(33)
    vectors = np.repeat(unit_vectors(1, 33, seed=3), 400, axis=0)
    texts = named(embedder, vectors)
    embedder.vectors["what?"] = vectors[0].tolist()
    store = open_episodic(embedder, dedup="off", mmr="off", candidates=10)
    store.write([unit(number, text) for number, text in enumerate(texts)])
    assert [hit.unit for hit in store.search("what?", 10, None)] == [f"u{number}" for number in range(10)]


@pytest.mark.parametrize("backend", ["faiss", "cosine"])
def test_with_more_rows_than_candidates_the_ranked_ones_are_the_nearest_in_float64(backend, open_episodic):
    embedder = GivenVectors(16)
    vectors = unit_vectors(900, 16, seed=5)
    # Rows that float32 cannot tell apart, so that only float64 has their order right.
    vectors[100:160] = np.nextafter(vectors[100], np.float32(2), dtype=np.float32) * np.linspace(
        1, 1 + 1e-6, 60, dtype=np.float32
    ).reshape(-1, 1)
    texts = named(embedder, vectors)
    store = open_episodic(embedder, dedup="off", mmr="off", score_decimals="none", candidates=50, backend=backend)
    store.write([unit(number, text) for number, text in enumerate(texts)])
    for seed in (100, 101, 102):
        query = vectors[100] if seed == 100 else unit_vectors(1, 16, seed)[0]
        embedder.vectors["what?"] = query.tolist()
        exact = vectors.astype(np.float64) @ query.astype(np.float64)
        expected = sorted(range(900), key=lambda row: (-exact[row], row))[:50]
        hits = store.search("what?", 60, None)
        assert {hit.unit for hit in hits} == {f"u{row}" for row in expected}
        assert [hit.score for hit in hits] == pytest.approx([0.85 * exact[row] for row in expected], rel=1e-12)


def test_results_after_hundreds_of_displacements_are_those_of_the_literal_memory(open_episodic, monkeypatch):
    chance = random.Random(11)
    embedder = GivenVectors(12)
    vectors = unit_vectors(800, 12, seed=8)
    # Near-duplicates of earlier rows: refused, or replacing where they are longer.
    for row in range(20, 800, 7):
        vectors[row] = vectors[row - chance.randint(1, 20)]
    options = {"episodic_max": 120, "candidates": 30}
    literal = LiteralEpisodic(embedder, **options)
    store = open_episodic(embedder, **options)
    displaced = 0
    for number in range(800):
        text = f"{number:04d} told about it" + " again" * chance.choice([0, 0, 3])
        embedder.vectors[text] = vectors[number].tolist()
        one = unit(number, text, chance.choice([None, days_later(chance.randint(0, 90))]))
        importance = chance.choice([0.3, 0.5, 0.5, 0.9])
        monkeypatch.setattr(store_module, "_IMPORTANCE", importance)
        (receipt,) = store.write([one])
        assert (receipt.status, receipt.displaced) == literal.write(one, importance), number
        displaced += len(receipt.displaced)
        if number % 40 == 0:
            embedder.vectors["what?"] = unit_vectors(1, 12, seed=1000 + number)[0].tolist()
            hits = store.search("what?", 20, days_later(90))
            expected = literal.search("what?", 20, days_later(90))
            assert [(hit.unit, pytest.approx(hit.score)) for hit in hits] == expected, number
    assert displaced > 2 * 256
