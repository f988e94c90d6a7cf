"""The real store against the literal one: random texts, vectors, ages, importance and options."""

import random
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from literal_episodic import DAY0, GivenVectors, LiteralEpisodic, days_later, unit

from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory
from membench.memories.episodic import store as store_module

WORDS = ["Ada", "ada", "boat", "café", "dog", "élan", "x_1", "42"]
# Sixteenths: their products and sums are exact in any order, so that real ties are ties for both.
SIXTEENTHS = st.integers(-16, 16).map(lambda count: count / 16)
DIMENSION = 5


def as_option(value: object) -> str:
    return (
        {None: "none", True: "on", False: "off"}.get(value, str(value))
        if not isinstance(value, int | float) or (isinstance(value, bool))
        else str(value)
    )


@st.composite
def written_rows(draw):
    """(text, vector, time, importance); dots, which are no word, make most openings differ."""
    rows = []
    for number in range(draw(st.integers(1, 14))):
        words = draw(st.lists(st.sampled_from(WORDS), max_size=6))
        text = " ".join(words) + draw(st.sampled_from(["", " ", "\n", " " + "." * number]))
        vector = draw(st.lists(SIXTEENTHS, min_size=DIMENSION, max_size=DIMENSION))
        hours = draw(st.none() | st.integers(-2000, 2000))
        rows.append(
            (
                text,
                vector,
                None if hours is None else DAY0 + timedelta(hours=hours),
                draw(st.sampled_from([0.0, 0.5, 1.0])),
            )
        )
    return rows


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "decay_rate": st.sampled_from([-1.0, 0.0, 0.03, 0.5, 10.0, 25.0]),
        "score_decimals": st.sampled_from([None, 0, 1, 4]),
        "mmr": st.booleans(),
        "mmr_lambda": st.sampled_from([0.0, 0.25, 0.6, 1.0]),
        "dedup": st.booleans(),
        "dedup_threshold": st.sampled_from([-1.0, 0.0, 0.5, 0.88, 1.0]),
        "min_chars": st.sampled_from([0, 10]),
        "max_chars": st.sampled_from([None, 12, 2000]),
        "episodic_max": st.sampled_from([None, 1, 3, 6]),
        "candidates": st.sampled_from([1, 3, 7, 1000]),
        "backend": st.sampled_from(["faiss", "cosine"]),
    },
)


@given(
    rows=written_rows(),
    options=OPTIONS,
    query=st.lists(SIXTEENTHS, min_size=DIMENSION, max_size=DIMENSION),
    limit=st.integers(1, 20),
    asked=st.none() | st.integers(-100, 400),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_receipts_hits_and_scores_are_those_of_the_literal_memory(rows, options, query, limit, asked, monkeypatch):
    embedder = GivenVectors(DIMENSION)
    literal = LiteralEpisodic(embedder, **options)
    memory = build_memory("episodic", {name: as_option(value) for name, value in options.items()}, embedder)
    store = memory.open("pool")
    try:
        for number, (text, vector, time, importance) in enumerate(rows):
            embedder.vectors[text.strip()] = vector
            monkeypatch.setattr(store_module, "_IMPORTANCE", importance)
            (receipt,) = store.write([unit(number, text, time)])
            assert (receipt.status, receipt.displaced) == literal.write(unit(number, text, time), importance)
        embedder.vectors["what?"] = query
        as_of = None if asked is None else days_later(asked / 4)
        hits = store.search("what?", limit, as_of)
        expected = literal.search("what?", limit, as_of)
        assert [hit.unit for hit in hits] == [name for name, _ in expected]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], rel=1e-12, abs=1e-300)
    finally:
        store.close()


@pytest.mark.parametrize("options", [{}, {"mmr": False}, {"candidates": 40}, {"score_decimals": None}], ids=str)
def test_a_store_of_sentences_agrees_over_many_queries(options, open_episodic):
    chance = random.Random(7)
    vocabulary = [f"word{number}" for number in range(60)]
    embedder = ToyEmbedder()
    literal = LiteralEpisodic(embedder, **options)
    store = open_episodic(embedder, **{name: as_option(value) for name, value in options.items()})
    units = [
        unit(number, " ".join(chance.choices(vocabulary, k=chance.randint(3, 15))), days_later(chance.uniform(0, 300)))
        for number in range(150)
    ]
    receipts = store.write(units)
    assert [(receipt.status, receipt.displaced) for receipt in receipts] == [literal.write(one) for one in units]
    for _ in range(12):
        query = " ".join(chance.choices(vocabulary, k=5))
        expected = literal.search(query, 20, days_later(300))
        hits = store.search(query, 20, days_later(300))
        assert [(hit.unit, pytest.approx(hit.score)) for hit in hits] == expected
