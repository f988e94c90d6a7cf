"""The stand-in: deterministic, about words alone, and recognisable."""

import numpy as np
import pytest

from membench.embedding.probe import PROBE_TEXTS
from membench.embedding.toy import ToyEmbedder


def test_its_identity_says_what_it_is_and_never_changes():
    identity = ToyEmbedder().identity
    assert (identity.kind, identity.key, identity.sha256) == ("toy", "toy", None)
    assert "toy" in identity.build
    assert identity.probe == "38ce47e42c59aa84e5a8d17f9e6cd94bc0dd2e8427789dd6e9de57c29da04ad9"


def test_a_text_has_the_same_bits_alone_among_others_and_as_document_or_query():
    texts = [*PROBE_TEXTS, "", "?!"]
    together = ToyEmbedder().embed(texts, "document").vectors
    for text, row in zip(texts, together, strict=True):
        assert ToyEmbedder().embed([text], "query").vectors.tobytes() == row.tobytes()


def test_it_scores_shared_words_whatever_their_case_or_order():
    boat, same, other = ToyEmbedder().embed(["A red boat", "boat, red: a!", "quite another matter"], "document").vectors
    assert boat @ same == pytest.approx(1.0)
    assert abs(boat @ other) < 0.6


def test_vectors_are_of_unit_length_even_without_a_word():
    embedded = ToyEmbedder().embed(["", "?!", "a b c d"], "document")
    assert np.linalg.norm(embedded.vectors, axis=1) == pytest.approx(1.0)
    assert embedded.tokens.tolist() == [0, 0, 4]


def test_no_texts_give_no_rows():
    assert ToyEmbedder().embed([], "document").vectors.shape == (0, 256)
