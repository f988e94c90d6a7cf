"""Each memory by itself: what is written, what comes back, what is left behind."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from known_examples import EXAMPLES

from membench.errors import MembenchError, UsageError
from membench.memories.protocol import Unit

pytestmark = pytest.mark.examples

SAID = {
    "u1": "Caroline adopted a beagle puppy called Scout",
    "u2": "The harvest festival begins at the old mill on Saturday",
    "u3": "My sister plays the cello in a chamber orchestra",
    "u4": "We repaired the greenhouse roof after the hailstorm",
    "u5": "The ferry to the lighthouse leaves every second hour",
}
UNUSUAL = {
    "blank": "",
    "spaces": "  \n ",
    "long": "zeppelin " * 11_400,
    "emoji": "🎉🦜 parrot party 👩‍👩‍👧",
    "arabic": "مرحبا بالعالم القديم",
    "hebrew": "שלום עולם ישן",
    "quotes": 'it\'s a "quoted" & (half-open | ! <-> :* C++ text \\ %s',
    "null": "a zero \0 in the middle",
}


def units(texts):
    return [Unit(name, "s1", text, None) for name, text in texts.items()]


def names(hits):
    return [hit.unit for hit in hits]


def test_what_is_written_is_found_by_its_words_and_by_its_id(example):
    with example.open() as memory:
        assert memory.describe().ephemeral
        store = memory.open("p1")
        assert [receipt.status for receipt in store.write(units(SAID))] == ["stored"] * len(SAID)
        assert {name: names(store.search(text, 1, None)) for name, text in SAID.items()} == {
            name: [name] for name in SAID
        }
        assert names(store.search("which puppy did Caroline adopt?", 3, None))[0] == "u1"
        store.close()


def test_what_is_written_after_a_search_is_found_by_the_next(example):
    with example.open() as memory:
        store = memory.open("p1")
        assert list(store.search("a walrus", 5, None)) == []
        store.write(units(SAID))
        store.search("a walrus", 5, None)
        store.write(units({"late": "the walrus slept upon the pier"}))
        assert names(store.search("walrus upon the pier", 2, None))[0] == "late"
        store.close()


def test_hits_are_at_most_as_many_as_asked_for_with_finite_scores_that_fall(example):
    with example.open() as memory:
        store = memory.open("p1")
        store.write(units(SAID))
        for limit in (1, 2, 4, 50):
            hits = store.search("the old mill and the lighthouse", limit, None)
            assert 1 <= len(hits) <= min(limit, len(SAID))
            assert len(set(names(hits))) == len(hits)
            scores = [hit.score for hit in hits]
            assert all(map(math.isfinite, scores)) and scores == sorted(scores, reverse=True)
        store.close()


def test_a_pool_knows_nothing_of_another(example):
    with example.open() as memory:
        first, second = memory.open("p1"), memory.open("p2")
        first.write(units(SAID))
        second.write(units({"other": "A beagle puppy barked at the lighthouse"}))
        assert names(second.search("Caroline adopted a beagle puppy", 20, None)) == ["other"]
        assert "other" not in names(first.search("A beagle puppy barked", 20, None))
        first.close()
        assert names(second.search("beagle", 20, None)) == ["other"]
        second.close()


def test_the_same_writes_give_the_same_scores_again_and_in_another_store(example):
    found = []
    with example.open() as memory:
        for pool in ("p1", "p2"):
            store = memory.open(pool)
            store.write(units(SAID))
            for _ in range(2):
                found += [scores(store.search(text, len(SAID), None)) for text in SAID.values()]
            store.close()
    for place, one in enumerate(found):
        # Chroma and mem0 compute in single precision, and not always in the same order.
        assert one == pytest.approx(found[place % len(SAID)], abs=1e-6)


def scores(hits):
    return {hit.unit: hit.score for hit in hits}


def test_an_unusual_text_is_found_or_refused_with_a_reason(example):
    with example.open() as memory:
        store = memory.open("p1")
        written = units({**SAID, **UNUSUAL})
        receipts = store.write(written)
        for unit, receipt in zip(written, receipts, strict=True):
            found = names(store.search(unit.text, len(written), None))
            if receipt.status == "stored":
                assert unit.id in found, unit.id
            else:
                assert receipt.status == "refused" and receipt.reason
                assert unit.id not in found
        assert {"long", "emoji", "arabic", "hebrew", "quotes"} <= {
            unit.id for unit, receipt in zip(written, receipts, strict=True) if receipt.status == "stored"
        }
        store.close()


def test_close_leaves_neither_a_file_nor_a_process(example, temporary):
    with example.open() as memory:
        stores = [memory.open("p1"), memory.open("p2")]
        for store in stores:
            store.write(units(SAID))
            assert store.search("the old mill", 3, None)
        if example.name != "minisearch":
            assert list(temporary.iterdir())
        for store in stores:
            store.close()
        assert list(temporary.iterdir()) == []
        assert processes_about(temporary) == []


def processes_about(folder):
    """The command lines that name the folder."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:
            continue
    return [line for line in lines if str(folder).encode() in line]


@pytest.mark.parametrize("name", ["pgvector", "lancedb"])
def test_a_hybrid_memory_finds_words_in_another_form_that_the_embedder_does_not_know(name):
    example = named(name)
    with example.open() as memory:
        store = memory.open("p1")
        store.write(units(SAID))
        assert names(store.search("repairing greenhouses", len(SAID), None))[0] == "u4"
        store.close()


@pytest.mark.parametrize("name", ["pgvector", "chroma"])
def test_an_option_that_makes_no_sense_is_refused(name):
    example = named(name)
    wrong = {"pgvector": ("ranking", "best"), "chroma": ("ef_search", "many")}[name]
    with pytest.raises(MembenchError, match=wrong[1]), replace(example, options=(wrong,)).open():
        pass
    with pytest.raises(UsageError, match="colour"), replace(example, options=(("colour", "red"),)).open():
        pass


def named(name):
    example = next(one for one in EXAMPLES if one.name == name)
    example.skip_unless_usable()
    return example
