"""The probe digest: one bit of one vector, or another order, is another digest."""

import hashlib

import numpy as np

from membench.embedding.probe import PROBE_TEXTS, probe_digest

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_the_digest_is_over_the_little_endian_floats_of_documents_then_queries():
    other = ROWS + 1
    expected = hashlib.sha256(ROWS.astype("<f4").tobytes() + other.astype("<f4").tobytes()).hexdigest()
    assert probe_digest(ROWS, other) == expected
    assert probe_digest(np.asfortranarray(ROWS), other.astype(">f4")) == expected


def test_one_bit_makes_another_digest():
    changed = ROWS.copy()
    changed[1, 2] = np.nextafter(changed[1, 2], np.float32(9))
    digests = {probe_digest(ROWS, ROWS), probe_digest(changed, ROWS), probe_digest(ROWS, changed)}
    assert len(digests) == 3


def test_the_probe_texts_are_distinct_and_reach_beyond_the_windows_of_small_models():
    assert len(set(PROBE_TEXTS)) == len(PROBE_TEXTS)
    assert max(len(text.split()) for text in PROBE_TEXTS) > 512
    assert min(len(text) for text in PROBE_TEXTS) <= 2
    assert any(not text.isascii() for text in PROBE_TEXTS)
