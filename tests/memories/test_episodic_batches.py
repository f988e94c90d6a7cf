"""Many units in one write: near-duplicates are looked for at once, and what comes of it is as if one by one."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from literal_episodic import GivenVectors, LiteralEpisodic, days_later, unit, unit_vectors

from membench.memories.episodic import store as store_module
from membench.memories.episodic import vectors as vectors_module
from membench.memories.episodic.vectors import FaissVectors

THRESHOLD = 0.875
DIMENSION = 3
# A component of 1 meets one of these: cosines that are the threshold and the float32 numbers beside it. Products and
# sums are exact in float64 in any order.
COMPONENTS = st.sampled_from([0.0, 1.0, -1.0, 0.5, THRESHOLD, THRESHOLD - 2**-24, THRESHOLD + 2**-24])
VECTORS = st.lists(COMPONENTS, min_size=DIMENSION, max_size=DIMENSION)

ALONE = {"at_a_time": 6, "by_faiss": True, "episodic_max": None, "forgotten_at_most": 256}


@st.composite
def batches(draw):
    """(length of the text, vector, day): few vectors, many lengths, so that most are near-duplicates of another."""
    pool = draw(st.lists(VECTORS, min_size=1, max_size=4))
    row = st.tuples(st.sampled_from([20, 22, 30, 40, 60]), st.sampled_from(pool), st.none() | st.integers(0, 9))
    return draw(st.lists(row, min_size=2, max_size=14))


def written(rows):
    embedder = GivenVectors(DIMENSION)
    units = []
    for number, (length, vector, day) in enumerate(rows):
        text = f"{number:02d}".ljust(length, ".")
        embedder.vectors[text] = vector
        units.append(unit(number, text, None if day is None else days_later(day)))
    return embedder, units


@given(
    rows=batches(),
    at_a_time=st.integers(1, 6),
    by_faiss=st.booleans(),
    episodic_max=st.sampled_from([None, 1, 2, 4]),
    forgotten_at_most=st.integers(0, 3),
)
# The second replaces the first, which the third would have been a duplicate of, too: it is compared with the second.
@example(rows=[(20, [1.0, 0, 0], 0), (30, [1.0, 0.5, 0], 0), (30, [1.0, -0.5, 0], 0)], **ALONE)
# At the threshold, which is not over it, and at the next float32 number.
@example(rows=[(20, [1.0, 0, 0], 0), (20, [THRESHOLD, 0, 0], 0)], **ALONE)
@example(rows=[(20, [1.0, 0, 0], 0), (20, [THRESHOLD + 2**-24, 0, 0], 0)], **ALONE)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_write_of_many_is_what_the_literal_memory_makes_of_each(
    rows, at_a_time, by_faiss, episodic_max, forgotten_at_most, open_episodic, monkeypatch
):
    monkeypatch.setattr(store_module, "_AT_A_TIME", at_a_time)
    monkeypatch.setattr(vectors_module, "_FEW", 2**19 if by_faiss else 0)
    monkeypatch.setattr("membench.memories.episodic.index._FORGOTTEN_AT_MOST", forgotten_at_most)
    embedder, units = written(rows)
    literal = LiteralEpisodic(embedder, dedup_threshold=THRESHOLD, episodic_max=episodic_max)
    store = open_episodic(
        embedder, dedup_threshold=THRESHOLD, episodic_max="none" if episodic_max is None else episodic_max
    )
    receipts = store.write(units)
    assert [(receipt.status, receipt.displaced) for receipt in receipts] == [literal.write(one) for one in units]
    embedder.vectors["what?"] = [1.0, 0.5, 0.25]
    expected = literal.search("what?", 20, None)
    assert [(hit.unit, pytest.approx(hit.score)) for hit in store.search("what?", 20, None)] == expected


def test_writes_of_hundreds_displace_what_the_literal_memory_displaces(open_episodic, monkeypatch):
    monkeypatch.setattr(vectors_module, "_BLOCK", 50)
    monkeypatch.setattr(vectors_module, "_FEW", 256 * 130)
    chance = random.Random(5)
    embedder = GivenVectors(12)
    vectors = unit_vectors(1500, 12, seed=9)
    noise = np.random.default_rng(9)
    for row in range(20, 1500, 4):
        near = vectors[row - chance.choice([1, 2, 5, 19])] + noise.normal(scale=chance.choice([0, 0.1, 0.2]), size=12)
        vectors[row] = near / np.linalg.norm(near)
    units = []
    for number, vector in enumerate(vectors):
        text = f"{number:04d} told about it" + " again" * chance.choice([0, 0, 3, 6])
        embedder.vectors[text] = vector.tolist()
        units.append(unit(number, text, chance.choice([None, days_later(chance.randint(0, 90))])))
    literal = LiteralEpisodic(embedder, episodic_max=150)
    store = open_episodic(embedder, episodic_max=150)
    statuses, displaced = set(), 0
    for start in range(0, 1500, 300):
        importance = chance.choice([0.3, 0.5, 0.9])
        monkeypatch.setattr(store_module, "_IMPORTANCE", importance)
        part = units[start : start + 300]
        receipts = store.write(part)
        assert [(one.status, one.displaced) for one in receipts] == [literal.write(one, importance) for one in part]
        statuses |= {(one.status, len(one.displaced)) for one in receipts}
        displaced += sum(len(one.displaced) for one in receipts)
    assert statuses == {("stored", 0), ("stored", 1), ("duplicate", 0)}
    assert displaced > 3 * 256


@pytest.mark.parametrize("few", [0, 2**19], ids=["BLAS", "FAISS"])
def test_what_is_over_is_found_in_every_block_in_rising_order(few, monkeypatch):
    monkeypatch.setattr(vectors_module, "_FEW", few)
    monkeypatch.setattr(vectors_module, "_BLOCK", 7)
    rows = unit_vectors(100, 5, seed=1)
    held = FaissVectors(5)
    held.extend(rows)
    asked = unit_vectors(9, 5, seed=2)
    expected = [np.flatnonzero(rows @ one > 0.4).tolist() for one in asked]
    assert held.over(asked, 0.4) == expected
    assert min(map(len, expected)) > 1


def test_the_rows_are_faiss_own_however_it_grew_and_shrank():
    rows = unit_vectors(700, 16, seed=4)
    held = FaissVectors(16)
    assert held.rows.shape == (0, 16)
    for number, row in enumerate(rows, start=1):
        held.extend(row.reshape(1, -1))
        assert len(held.rows) == number
        if number % 50 == 0 or number in (1, 2, 3, 64, 65, 128, 129, 513):
            assert np.array_equal(held.rows, rows[:number])
    assert np.shares_memory(held.rows, held.rows)
    assert not held.rows.flags.writeable
    kept = np.random.default_rng(4).random(700) < 0.6
    held.keep(kept)
    assert np.array_equal(held.rows, rows[kept])
    held.extend(rows[:1])
    assert np.array_equal(held.rows[-1], rows[0])
