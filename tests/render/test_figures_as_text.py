"""Figures and differences as a reader sees them: exact zero, and nothing else, is 0."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membench.render.text import counted, figure, grouped, in_queries, moved, one_line, ranks, signed, signed_queries


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (None, "\u2013"),
        (0.0196, "+0.0196"),
        (-0.0196, "-0.0196"),
        (1.0, "+1.0000"),
        (0.00005, "+0.0001"),
        (0.00004, "+0.00004"),
        (-3.2e-7, "-0.0000003"),
        (1e-16, "+0.0000000000000001"),
        (5e-324, "+5e-324"),
    ],
)
def test_a_difference_has_its_sign_and_as_many_digits_as_it_needs(delta, text):
    assert signed(delta) == text


@given(st.floats(-1, 1, allow_nan=False))
def test_no_difference_looks_like_none(delta):
    text = signed(delta)
    assert (text == "0") == (delta == 0)
    if delta:
        assert float(text) != 0
        assert math.copysign(1, float(text)) == math.copysign(1, delta)
        assert moved(delta) == f"{'▲' if delta > 0 else '▼'} {text}"


@given(st.integers(1, 5000), st.data())
def test_a_difference_of_recall_all_is_so_many_queries(queries, data):
    was, now = data.draw(st.integers(0, queries)), data.draw(st.integers(0, queries))
    assert in_queries(now / queries - was / queries, queries) == now - was


def test_counts_and_ranks_in_words():
    assert [grouped(number) for number in (0, 999, 1531, 2805274)] == ["0", "999", "1,531", "2,805,274"]
    assert [counted(number, "query") for number in (0, 1, 1531)] == ["0 queries", "1 query", "1,531 queries"]
    assert [signed_queries(number) for number in (0, 1, -1, 1531)] == [
        "0 queries",
        "+1 query",
        "-1 query",
        "+1,531 queries",
    ]
    assert ranks([2, None, 14]) == "2, \u2013, 14"
    assert (figure(0.5), figure(None), moved(0.0)) == ("0.5000", "\u2013", "= 0")


@given(st.text(st.characters()))
def test_a_string_on_one_line_does_nothing_to_a_terminal(text):
    line = one_line(text)
    assert not any(unicodedata.category(one) in ("Cc", "Cs") for one in line)
    assert not any(unicodedata.bidirectional(one) in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI") for one in line)
    assert len(line.splitlines()) <= 1
    assert line.encode().decode() == line
