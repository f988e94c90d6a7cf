"""What the episodic memory stores, refuses and forgets, and that each option has its effect."""

import sqlite3
import tempfile
from pathlib import Path

import pytest
from literal_episodic import GivenVectors, days_later, unit

from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory
from membench.memories.episodic.memory import EpisodicMemory
from membench.memories.episodic.options import EpisodicSettings
from membench.memories.episodic.store import EpisodicStore
from membench.memories.protocol import Receipt


def near(dimension: int = 2) -> GivenVectors:
    """Texts that begin with `near` have one vector, all others another, at a right angle."""

    class Near(GivenVectors):
        def embed(self, texts, kind):
            for text in texts:
                self.vectors[text] = [1.0, 0.0] if text.lower().startswith(("near", "what")) else [0.0, 1.0]
            return super().embed(texts, kind)

    return Near(dimension)


def statuses(store: EpisodicStore, *texts: str) -> list[str]:
    return [receipt.status for receipt in store.write([unit(place, text) for place, text in enumerate(texts)])]


def units_found(store: EpisodicStore, query: str = "what?", limit: int = 20, as_of=None) -> list[str | None]:
    return [hit.unit for hit in store.search(query, limit, as_of)]


def test_texts_are_stored_stripped(open_episodic):
    store = open_episodic()
    store.write([unit(1, " \n the boat is red \t")])
    assert [hit.text for hit in store.search("red boat", 5, None)] == ["the boat is red"]


def test_lengths_are_of_the_stripped_text_and_their_bounds_are_allowed(open_episodic):
    store = open_episodic(dedup="off")
    texts = ["a" * 9 + "  ", "b" * 10, "c" * 2000 + "  ", "d" * 2001, "   "]
    receipts = store.write([unit(place, text) for place, text in enumerate(texts)])
    assert [receipt.reason for receipt in receipts] == [
        "under 10 characters",
        None,
        None,
        "over 2000 characters",
        "blank",
    ]
    assert sorted(units_found(store)) == ["u1", "u2"]


def test_min_chars_and_max_chars_move_the_bounds(open_episodic):
    assert statuses(open_episodic(min_chars=0, dedup="off"), "ok", " ") == ["stored", "refused"]
    assert statuses(open_episodic(max_chars=12), "a" * 13, "b" * 12) == ["refused", "stored"]
    assert statuses(open_episodic(max_chars="none"), "word " * 1000) == ["stored"]


@pytest.mark.parametrize("options", [{}, {"dedup": "off"}, {"dedup_threshold": 1}, {"backend": "cosine"}], ids=str)
def test_the_same_first_80_characters_are_refused_whatever_the_threshold(options, open_episodic):
    opening = "The same beginning of exactly eighty characters, which is where it is compared.."
    assert len(opening) == 80
    store = open_episodic(**options)
    first, second, third = store.write(
        [unit(1, opening + " One ending."), unit(2, "  " + opening.upper() + "Another"), unit(3, opening[:-1] + "!")]
    )
    assert first == Receipt("stored")
    assert second == Receipt("duplicate", "same first 80 characters")
    assert third.reason != "same first 80 characters"


def test_an_opening_may_come_again_once_its_row_is_displaced(open_episodic):
    store = open_episodic(near(), episodic_max=1)
    receipts = store.write([unit(1, "far from it all"), unit(2, "nearby the boat"), unit(3, "far from it all")])
    assert [receipt.displaced for receipt in receipts] == [(), ("u1",), ("u2",)]
    assert units_found(store) == ["u3"]


def test_a_near_duplicate_is_refused(open_episodic):
    store = open_episodic(near())
    receipts = store.write([unit(1, "near the boat"), unit(2, "near the ship"), unit(3, "far from both")])
    assert receipts == [Receipt("stored"), Receipt("duplicate", "cosine over 0.88"), Receipt("stored")]
    assert units_found(store) == ["u1", "u3"]


def test_a_near_duplicate_replaces_once_it_is_more_than_1_2_times_longer(open_episodic):
    store = open_episodic(near())
    ten, twelve, thirteen = "near boat.", "near ship...", "near ships..."
    assert [len(ten), len(twelve), len(thirteen)] == [10, 12, 13]
    receipts = store.write([unit(1, ten), unit(2, twelve), unit(3, thirteen)])
    assert [receipt.status for receipt in receipts] == ["stored", "duplicate", "stored"]
    assert receipts[2] == Receipt("stored", displaced=("u1",))
    assert units_found(store) == ["u3"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "duplicate"),
        ({"dedup": "off"}, "stored"),
        ({"backend": "cosine"}, "stored"),
        ({"dedup_threshold": 1}, "stored"),
        ({"dedup_threshold": 0.99}, "duplicate"),
    ],
    ids=str,
)
def test_the_near_duplicate_check_needs_faiss_and_a_threshold_below(options, expected, open_episodic):
    assert statuses(open_episodic(near(), **options), "near the boat", "near the ship") == ["stored", expected]


def test_above_the_cap_the_oldest_is_displaced_even_if_it_is_the_newcomer(open_episodic):
    store = open_episodic(episodic_max=2, dedup="off")
    written = [
        unit(1, "said on the second day", days_later(2)),
        unit(2, "said at no known time", None),
        unit(3, "said on the third day", days_later(3)),
        unit(4, "said on the first day", days_later(1)),
    ]
    assert [receipt.displaced for receipt in store.write(written)] == [(), (), ("u1",), ("u4",)]
    assert sorted(units_found(store)) == ["u2", "u3"]


def test_no_cap_displaces_nothing(open_episodic):
    store = open_episodic(episodic_max="none", dedup="off")
    receipts = store.write([unit(number, f"number {number} of many") for number in range(30)])
    assert {receipt.displaced for receipt in receipts} == {()}


def test_every_write_is_visible_to_the_next_search(open_episodic):
    store = open_episodic()
    assert units_found(store) == []
    store.write([unit(1, "the boat is red")])
    assert units_found(store) == ["u1"]
    store.write([unit(2, "a dog ran home")])
    assert sorted(units_found(store)) == ["u1", "u2"]


def test_age_costs_three_per_cent_a_whole_day_and_unknown_or_future_times_nothing(open_episodic):
    store = open_episodic(near(), dedup="off", mmr="off", score_decimals="none")
    times = [days_later(0), days_later(0.5), None, days_later(50)]
    store.write([unit(place, f"near number {place}", time) for place, time in enumerate(times)])
    scores = {hit.unit: hit.score for hit in store.search("what?", 9, days_later(10))}
    assert scores["u0"] == pytest.approx(0.85 * 0.7408182206817179, rel=1e-15)  # exp(-0.3)
    assert scores["u1"] == pytest.approx(0.85 * 0.7633794943368531, rel=1e-15)  # exp(-0.27): nine whole days
    assert scores["u2"] == scores["u3"] == 0.85
    assert {hit.score for hit in store.search("what?", 9, None)} == {0.85}


@pytest.mark.parametrize(("rate", "expected"), [("0", 0.85), ("-3", 0.85), ("0.1", 0.7691), ("10", 0.0), ("99", 0.0)])
def test_decay_rate_is_a_days_and_clamped(rate, expected, open_episodic):
    store = open_episodic(near(), decay_rate=rate)
    store.write([unit(1, "near the boat")])
    assert store.search("what?", 1, days_later(1))[0].score == expected


def test_decay_rates_beyond_the_clamp_are_recorded_as_they_work():
    assert build_memory("episodic", {"decay_rate": "99"}, ToyEmbedder()).describe().settings["decay_rate"] == 10.0


def two_that_round_alike() -> GivenVectors:
    embedder = GivenVectors(1)
    embedder.vectors = {"the lesser text": [0.50001], "the better text": [0.50002], "what?": [1.0]}
    return embedder


@pytest.mark.parametrize(("decimals", "expected"), [("4", ["u1", "u2"]), ("none", ["u2", "u1"]), ("5", ["u2", "u1"])])
def test_rounding_the_score_makes_ties_that_insertion_order_breaks(decimals, expected, open_episodic):
    store = open_episodic(two_that_round_alike(), score_decimals=decimals, dedup="off", mmr="off")
    store.write([unit(1, "the lesser text"), unit(2, "the better text")])
    assert units_found(store) == expected


def diverse() -> GivenVectors:
    embedder = GivenVectors(1)
    embedder.vectors = {
        "red boat, red boat": [1.0],
        "red boat. Red boat": [0.98],
        "a blue bicycle": [0.7],
        "what?": [1.0],
    }
    return embedder


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["u1", "u3", "u2"]),
        ({"mmr": "off"}, ["u1", "u2", "u3"]),
        ({"mmr_lambda": 1}, ["u1", "u2", "u3"]),
        ({"mmr_lambda": 0.8}, ["u1", "u2", "u3"]),
    ],
    ids=str,
)
def test_mmr_lets_another_subject_pass_a_repetition(options, expected, open_episodic):
    store = open_episodic(diverse(), dedup="off", **options)
    store.write([unit(1, "red boat, red boat"), unit(2, "red boat. Red boat"), unit(3, "a blue bicycle")])
    assert units_found(store) == expected


def test_only_the_nearest_candidates_are_ranked_however_old_they_are(open_episodic):
    embedder = GivenVectors(1)
    embedder.vectors = {"the near and old": [0.9], "the far and new": [0.5], "what?": [1.0]}
    written = [unit(1, "the near and old", days_later(0)), unit(2, "the far and new", days_later(100))]
    for candidates, expected in ((1, ["u1"]), (2, ["u2", "u1"])):
        store = open_episodic(embedder, candidates=candidates, dedup="off", mmr="off")
        store.write(written)
        assert units_found(store, as_of=days_later(100)) == expected


def test_the_limit_bounds_the_hits(open_episodic):
    store = open_episodic(dedup="off")
    store.write([unit(number, f"number {number} of many") for number in range(30)])
    assert len(units_found(store, limit=7)) == 7
    assert len(units_found(store, limit=99)) == 30


@pytest.mark.parametrize("backend", ["faiss", "cosine"])
def test_the_description_names_the_backend_and_every_other_option(backend):
    description = build_memory("episodic", {"backend": backend, "mmr": "off"}, ToyEmbedder()).describe()
    assert (description.name, description.backend, description.embeds) == ("episodic", backend, True)
    assert set(description.settings) == set(EpisodicSettings.model_fields) - {"backend"}
    assert description.settings["mmr"] is False


# Without an embedder.


def keyword_store() -> EpisodicStore:
    return EpisodicMemory(EpisodicSettings(), None).open("pool")


def test_without_an_embedder_the_description_says_that_it_searches_by_keyword():
    description = EpisodicMemory(EpisodicSettings(), None).describe()
    assert (description.backend, description.embeds) == ("keyword", False)


def test_the_keyword_search_counts_the_first_five_words_and_breaks_ties_by_insertion():
    store = keyword_store()
    store.write(
        [
            unit(1, "nothing to be had here"),
            unit(2, "a Boat on the lake"),
            unit(3, "the boat was red, on a lake"),
            unit(4, "only the sixth: zebra"),
            unit(5, "another lake, another boat"),
        ]
    )
    hits = store.search("boat red lake was green zebra", 9, days_later(999))
    assert [(hit.unit, hit.score) for hit in hits] == [("u3", 4.0), ("u2", 2.0), ("u5", 2.0)]
    assert [hit.unit for hit in store.search("boat red lake", 1, None)] == ["u3"]
    assert store.search("", 9, None) == []
    store.close()


def test_the_keyword_search_reads_tags_and_the_store_writes_none(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = keyword_store()
    store.write([unit(1, "the boat is red"), unit(2, "the dog ran home")])
    (database,) = tmp_path.glob("*/memories.sqlite")
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT DISTINCT tags FROM memories").fetchall() == [("",)]
        assert [hit.unit for hit in store.search("holiday", 9, None)] == []
        connection.execute("UPDATE memories SET tags = 'holiday' WHERE unit = 'u2'")
    assert [hit.unit for hit in store.search("holiday", 9, None)] == ["u2"]
    connection.close()
    store.close()


def test_the_keyword_store_refuses_by_length_and_opening_too():
    store = keyword_store()
    assert statuses(store, "short", "the boat is red", "The boat is red") == ["refused", "stored", "duplicate"]
    store.close()


# Stores.


def test_a_store_keeps_its_rows_in_a_folder_that_goes_when_it_closes(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = EpisodicMemory(EpisodicSettings(), ToyEmbedder()).open("pool")
    store.write([unit(1, "the boat is red")])
    (folder,) = tmp_path.iterdir()
    with sqlite3.connect(folder / "memories.sqlite") as connection:
        assert connection.execute("SELECT unit, conversation_id FROM memories").fetchall() == [("u1", "s1")]
    connection.close()
    store.close()
    assert list(Path(tmp_path).iterdir()) == []


def test_two_pools_know_nothing_of_each_other():
    memory = EpisodicMemory(EpisodicSettings(), ToyEmbedder())
    one, other = memory.open("same"), memory.open("same")
    one.write([unit(1, "the boat is red")])
    assert other.write([unit(2, "the boat is red")]) == [Receipt("stored")]
    assert [hit.unit for hit in one.search("boat", 9, None)] == ["u1"]
    one.close()
    assert [hit.unit for hit in other.search("boat", 9, None)] == ["u2"]
    other.close()
