"""Hits back to what was written, by id and by text."""

from hypothesis import given
from hypothesis import strategies as st

from membench.memories.protocol import Hit
from membench.ruler.attribution import Attribution
from membench.ruler.ledger import Written, text_fingerprint


def standing(*texts):
    return [
        Written(f"u{n}", f"session{n}", (f"t{n}",), text_fingerprint(text), text_fingerprint(text.strip()))
        for n, text in enumerate(texts)
    ]


def attributed(standing, *hits):
    found = Attribution(standing, "p1").attribute([Hit(-float(place), **hit) for place, hit in enumerate(hits)])
    return [one.unit for one, _ in found.ranked], found.unknown, found.repeated


def by_text(fragments, *texts):
    return attributed(fragments, *({"text": text} for text in texts))


def test_by_id():
    assert attributed(standing("a", "b"), {"unit": "u1"}, {"unit": "u0"}) == (["u1", "u0"], 0, 0)


def test_an_id_counts_before_a_text():
    assert attributed(standing("a", "b"), {"unit": "u1", "text": "a"}) == (["u1"], 0, 0)
    assert attributed(standing("a"), {"unit": "u9", "text": "a"}) == ([], 1, 0)


def test_what_does_not_stand_is_unknown():
    assert attributed(standing("a"), {"unit": "u7"}, {"text": "c"}, {"unit": "u0"}) == (["u0"], 2, 0)


def test_a_fragment_ranks_by_its_first_hit():
    assert attributed(standing("a", "b"), {"unit": "u1"}, {"unit": "u1"}, {"unit": "u0"}) == (["u1", "u0"], 0, 1)


def test_scores_stay_with_their_hits():
    found = Attribution(standing("a", "b"), "p1").attribute([Hit(0.5, text="b"), Hit(0.25, text="a")])
    assert [(one.unit, score) for one, score in found.ranked] == [("u1", 0.5), ("u0", 0.25)]


def test_a_text_that_was_written_more_than_once_is_taken_in_order_and_then_repeated():
    assert by_text(standing("a", "b", "a"), "a", "b", "a", "a") == (["u0", "u1", "u2"], 0, 1)


def test_a_text_is_found_without_the_blanks_at_its_ends():
    assert by_text(standing(" a ", "b\n"), "b", "a") == (["u1", "u0"], 0, 0)
    assert by_text(standing("a"), " a\n") == (["u0"], 0, 0)


def test_a_text_as_it_was_written_counts_before_a_stripped_one():
    assert by_text(standing(" a", "a"), "a") == (["u1"], 0, 0)
    assert by_text(standing("a", " a"), " a") == (["u1"], 0, 0)


def test_a_store_that_strips_loses_no_text_that_then_stands_twice():
    assert by_text(standing(" a", "a"), "a", "a", "a") == (["u1", "u0"], 0, 1)


def test_a_store_that_does_not_strip_earns_no_second_text_by_repeating_one():
    assert by_text(standing("a", " a"), " a", " a") == (["u1"], 0, 1)


@given(st.lists(st.text("ab ", max_size=3), max_size=8), st.data())
def test_every_hit_is_ranked_unknown_or_repeated(texts, data):
    fragments = standing(*texts)
    units = st.builds(lambda n: {"unit": f"u{n}"}, st.integers(0, 9))
    hits = data.draw(st.lists(units | st.builds(lambda text: {"text": text}, st.text("ab ", max_size=3)), max_size=12))
    ranked, unknown, repeated = attributed(fragments, *hits)
    assert len(ranked) + unknown + repeated == len(hits)
    assert len(set(ranked)) == len(ranked)


@given(st.lists(st.text("ab ", min_size=1, max_size=3), unique_by=str.strip), st.data())
def test_by_distinct_texts_is_by_id(texts, data):
    fragments = standing(*texts)
    order = data.draw(st.permutations(range(len(texts))))
    ids = [f"u{n}" for n in order]
    assert attributed(fragments, *({"unit": name} for name in ids)) == (ids, 0, 0)
    assert by_text(fragments, *(texts[n] for n in order)) == (ids, 0, 0)
    assert by_text(fragments, *(texts[n].strip() for n in order)) == (ids, 0, 0)
