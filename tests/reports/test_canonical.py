"""Canonical JSON: the same bytes for the same value, and a line for each query."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from membench.reports.canonical import canonical_json
from membench.reports.measurement import Figure, Measurement
from membench.reports.model import Report


class Box(Report):
    value: Any
    after: int = 1


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(VALUES.filter(lambda value: all(ord(c) < 0xD800 or ord(c) > 0xDFFF for c in str(value))))
def test_it_parses_to_the_value_that_was_written_every_time_the_same(value):
    box = Box(value=value)
    written = canonical_json(box)
    assert json.loads(written) == {"value": value, "after": 1}
    assert canonical_json(Box.model_validate_json(written)) == written
    assert written.endswith(b"}\n")


def test_it_is_indented_down_to_the_second_level():
    written = canonical_json(Box(value={"é": [1, {"x": 2.5}], "empty": {}, "none": None}))
    assert written.decode() == (
        '{\n "value": {\n  "é": [1, {"x": 2.5}],\n  "empty": {},\n  "none": null\n },\n "after": 1\n}\n'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_figure_that_is_no_json_number_cannot_be_made(value):
    with pytest.raises(ValidationError, match="finite number"):
        Figure(value=value, queries=1, population="0")


def test_a_measurement_is_the_same_bytes_however_often_it_is_made(measure, by_turn):
    assert measure(timelines=("anchored",))[1] == by_turn[1]


@pytest.mark.parametrize("made", ["by_turn", "by_session"])
def test_a_measurement_survives_the_round_trip(made, request):
    measurement, body = request.getfixturevalue(made)
    again = Measurement.model_validate_json(body)
    assert again == measurement
    assert canonical_json(again) == body


def test_every_query_stands_on_a_line_of_its_own(by_turn):
    measurement, body = by_turn
    lines = [line for line in body.decode().splitlines() if line.startswith('  {"id": ')]
    assert [json.loads(line.rstrip(","))["id"] for line in lines] == [query.id for query in measurement.queries]
    assert len(lines) > 20


def test_the_schema_comes_first_and_names_the_version(by_turn):
    assert by_turn[1].decode().splitlines()[1] == ' "schema": "membench.measurement/1",'


def changed(body: bytes, change) -> bytes:
    value = json.loads(body)
    change(value)
    return json.dumps(value).encode()


def add_cut_off(figures: dict, k: str) -> None:
    figures[k] = figures["1"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda m: m.update(extra=1), "extra"),
        (lambda m: m["arm"].update(seed=7), "arm.seed"),
        (lambda m: m["queries"][0].update(score=1.0), "queries.0.score"),
        (lambda m: m["metrics"]["turn"]["ndcg"]["1"].update(std=0.1), "metrics.turn.ndcg.1.std"),
        (lambda m: m.pop("status"), "status"),
        (lambda m: m["corpus"].pop("fingerprint"), "corpus.fingerprint"),
        (lambda m: m.update(schema="membench.measurement/2"), "schema"),
        (lambda m: m.update(schema="membench.provenance/1"), "schema"),
        (lambda m: m.update(status="fine"), "status"),
        (lambda m: m["counts"].update(scored=-1), "counts.scored"),
        (lambda m: m["counts"].update(scored="30"), "counts.scored"),
        (lambda m: m["counts"].update(scored=30.5), "counts.scored"),
        (lambda m: m["queries"][0]["session_ranks"].__setitem__(0, 0), "queries.0.session_ranks.0"),
        (lambda m: add_cut_off(m["metrics"]["session"]["recall_all"], "0"), "metrics.session.recall_all.0"),
        (lambda m: m["metrics"]["session"]["mrr"].update(value=math.nan), "metrics.session.mrr.value"),
        (lambda m: m["corpus"].update(fingerprint="0"), "corpus.fingerprint"),
    ],
)
def test_a_file_that_is_not_of_this_schema_is_refused_by_field(change, where, by_turn):
    with pytest.raises(ValidationError) as caught:
        Measurement.model_validate_json(changed(by_turn[1], change))
    (error,) = caught.value.errors()
    found = ".".join(str(part) for part in error["loc"] if part != "[key]")
    assert found == where


def test_a_file_without_a_schema_is_refused(by_turn):
    with pytest.raises(ValidationError, match="schema"):
        Measurement.model_validate_json(changed(by_turn[1], lambda measurement: measurement.pop("schema")))
