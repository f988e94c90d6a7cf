"""The texts are as different as the rules take them to be."""

import itertools
import re

from membench.memories.check.storing import UNITS
from membench.memories.check.texts import HUGE_BYTES, HUGE_QUERY, LONG, SENTENCES, many, mixed_queries, unusual


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def test_no_two_sentences_share_a_word():
    for one, other in itertools.combinations(SENTENCES, 2):
        assert not words(one) & words(other)


def test_the_many_share_at_most_half_of_their_own_words():
    texts = many(UNITS)
    assert len(set(texts)) == UNITS
    common = {"a", "at", "the"}
    for one, other in itertools.combinations(texts, 2):
        assert len(words(one) & words(other) - common) <= 2, (one, other)


def test_a_mixed_query_has_its_own_sentence_and_shares_words_with_two_others():
    for sentence, query in zip(SENTENCES, mixed_queries(), strict=True):
        assert query.startswith(sentence)
        assert sum(bool(words(other) & words(query)) for other in SENTENCES) == 3


def test_sizes():
    assert 2_500 < len(LONG) < 3_600
    assert len(HUGE_QUERY) > 10_000
    text, query = unusual()["a text of 100 kB"]
    assert HUGE_BYTES * 0.99 < len(text.encode()) < HUGE_BYTES * 1.05
    assert text.startswith(query)


def test_every_unusual_text_can_be_written_as_utf_8():
    for text, query in unusual().values():
        assert text.encode().decode() == text
        assert len(query) < 200
