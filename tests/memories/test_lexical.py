"""BM25 by its formula, counted out in full."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal_episodic import unit

from membench.memories.catalog import build_memory
from membench.memories.protocol import Receipt

TEXTS = st.lists(st.sampled_from(["boat", "Boat", "dog", "lake", "red", "x1", "é"]), min_size=1, max_size=9)


def opened(**options: str):
    return build_memory("bm25", options, None).open("pool")


def literal_scores(documents: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    documents = [[word.lower() for word in document] for document in documents]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for word in (word.lower() for word in query):
            holding = sum(word in other for other in documents)
            if not holding:
                continue
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            count = document.count(word)
            # Of a word that is absent nothing is added, also where k1 is 0.
            score += idf * count / (count + k1 * (1 - b + b * len(document) / mean)) if count else 0.0
        scores.append(score)
    return scores


@given(
    documents=st.lists(TEXTS, min_size=1, max_size=8),
    query=TEXTS,
    k1=st.sampled_from([0.0, 0.9, 1.5, 3.0]),
    b=st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)
@settings(max_examples=120, deadline=None)
def test_scores_are_those_of_the_formula(documents, query, k1, b):
    store = opened(k1=str(k1), b=str(b), stemming="off")
    store.write([unit(place, " ".join(words)) for place, words in enumerate(documents)])
    expected = {f"u{place}": score for place, score in enumerate(literal_scores(documents, query, k1, b)) if score > 0}
    hits = store.search(" ".join(query), 20, None)
    assert {hit.unit: hit.score for hit in hits} == pytest.approx(expected, rel=1e-12)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_ties_stand_in_insertion_order():
    store = opened()
    store.write([unit(place, "the red boat") for place in (3, 1, 2)] + [unit(9, "the dog")])
    assert [hit.unit for hit in store.search("boat", 9, None)] == ["u3", "u1", "u2"]
    assert [hit.unit for hit in store.search("boat", 2, None)] == ["u3", "u1"]


def test_a_unit_without_a_word_is_stored_and_never_found():
    store = opened()
    assert store.write([unit(1, "?! ..."), unit(2, "ok")]) == [Receipt("stored"), Receipt("stored")]
    assert [hit.unit for hit in store.search("ok", 9, None)] == ["u2"]


@pytest.mark.parametrize("query", ["zebra", "", "?!"])
def test_a_query_without_a_known_word_has_no_hits(query):
    store = opened()
    assert store.search(query, 9, None) == []
    store.write([unit(1, "the red boat")])
    assert store.search(query, 9, None) == []


def test_unknown_words_of_a_query_change_nothing():
    store = opened()
    store.write([unit(1, "the red boat"), unit(2, "the dog")])
    assert store.search("boat zebra", 9, None) == store.search("boat", 9, None)


def test_stemming_finds_other_forms_of_a_word():
    for stemming, expected in (("on", ["u1"]), ("off", [])):
        store = opened(stemming=stemming)
        store.write([unit(1, "they adopted dogs")])
        assert [hit.unit for hit in store.search("Adopting", 9, None)] == expected


def test_what_is_written_after_a_search_is_found_by_the_next():
    store = opened()
    store.write([unit(1, "the red boat")])
    assert [hit.unit for hit in store.search("dog boat", 9, None)] == ["u1"]
    store.write([unit(2, "a dog, a dog")])
    assert {hit.unit for hit in store.search("dog boat", 9, None)} == {"u1", "u2"}


def test_two_pools_know_nothing_of_each_other_and_nothing_is_left_after_closing():
    memory = build_memory("bm25", {}, None)
    one, other = memory.open("same"), memory.open("same")
    one.write([unit(1, "the red boat")])
    assert other.search("boat", 9, None) == []
    one.close()
    assert one.search("boat", 9, None) == []


def test_the_description_names_the_library_and_every_option():
    description = build_memory("bm25", {"k1": "1.2"}, None).describe()
    assert description.name == "bm25"
    assert description.backend.startswith("bm25s ")
    assert dict(description.settings) == {"k1": 1.2, "b": 0.75, "stemming": True}
    assert (description.embeds, description.honours_as_of) == (False, False)
