"""A measurement file is read strictly, and believed only where its figures follow from its ranks."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membench.compare.compare import compare
from membench.errors import MembenchError, ReportError, StorageError
from membench.reports.canonical import canonical_json
from membench.reports.loading import OtherSchema, parse_measurement, read_measurement
from membench.reports.measurement import Measurement


@pytest.fixture(scope="module")
def document(few) -> dict[str, Any]:
    return few.model_dump(mode="json", by_alias=True)


def parsed(document: Any) -> Measurement | OtherSchema:
    return parse_measurement(json.dumps(document).encode(), "the file")


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(document)
    inner: Any = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value(inner[path[-1]]) if callable(value) else value
    return document


def test_what_is_written_is_read_back(few, tmp_path):
    path = tmp_path / "few.json"
    path.write_bytes(canonical_json(few))
    assert read_measurement(path) == few


def figures_in(metrics: dict[str, Any]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for level in ("session", "turn"):
        for metric, row in metrics[level].items():
            found += [(level, metric)] if metric == "mrr" else [(level, metric, k) for k in row]
    return found


def test_no_figure_can_be_altered(document):
    places = [("metrics", *path) for path in figures_in(document["metrics"])]
    for number, category in enumerate(document["by_category"]):
        places += [("by_category", number, "metrics", *path) for path in figures_in(category["metrics"])]
    assert len(places) > 100
    for path in places:
        field = ("value", "queries", "population")[len(str(path)) % 3]
        change = {"value": lambda x: x + 1e-6, "queries": lambda x: x + 1, "population": lambda x: x[::-1] + "0"}
        with pytest.raises(ReportError, match="contradicts itself"):
            parsed(changed(document, (*path, field), change[field]))


def test_a_last_bit_of_another_libm_is_no_alteration(document):
    assert parsed(changed(document, ("metrics", "session", "mrr", "value"), lambda x: x * (1 + 2e-16)))


CONTRADICTIONS = {
    "a figure is left out": (("metrics", "session", "ndcg"), lambda row: dict(list(row.items())[1:])),
    "mrr is left out": (("metrics", "session", "mrr"), None),
    "the turn level is left out": (("metrics", "turn"), None),
    "the turn level of a category is left out": (("by_category", 0, "metrics", "turn"), None),
    "a category is left out": (("by_category",), lambda found: found[1:]),
    "a category stands twice": (("by_category",), lambda found: [*found, found[0]]),
    "a category of another size": (("by_category", 0, "queries"), lambda count: count + 1),
    "a query stands twice": (("queries",), lambda found: [*found[:-1], found[0]]),
    "other ranks": (("queries", 0, "session_ranks"), lambda ranks: [3] * len(ranks)),
    "more ranks than gold": (("queries", 0, "session_ranks"), lambda ranks: [*ranks, 2]),
    "more turn ranks than gold": (("queries", 0, "turn_ranks"), lambda ranks: [*ranks, 2]),
    "a query without gold": (("queries", 0), lambda query: {**query, "gold_sessions": [], "session_ranks": []}),
    "a rank beyond the list": (("queries", 0, "session_observed"), 0),
    "a shorter list": (("queries", 0, "session_observed"), 4),
    "a cut-off of zero": (("arm", "cut_offs"), lambda found: [0, *found]),
    "another cut-off": (("arm", "cut_offs"), lambda found: [*found, 2]),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_what_cannot_be_as_it_says_is_no_measurement(name, document):
    path, value = CONTRADICTIONS[name]
    with pytest.raises(ReportError, match="contradicts itself") as caught:
        parsed(changed(document, path, value))
    assert "Restore the file" in str(caught.value)


def test_a_rank_beyond_what_came_back_is_told(document):
    length = document["queries"][0]["session_observed"]
    ranks = [length + 1] * len(document["queries"][0]["session_ranks"])
    with pytest.raises(ReportError, match=f"a session rank is beyond the {length} that came back"):
        parsed(changed(document, ("queries", 0, "session_ranks"), ranks))


WRONG = {
    "a text for a number": (("counts", "scored"), "20"),
    "a number for a text": (("corpus", "key"), 7),
    "a truth for a number": (("counts", "scored"), True),
    "a negative count": (("counts", "scored"), -1),
    "a rank of zero": (("queries", 0, "session_ranks"), [0]),
    "a fraction of a rank": (("queries", 0, "session_ranks"), [1.5]),
    "an unknown field": (("arm",), lambda arm: {**arm, "new": 1}),
    "a missing field": (("arm",), lambda arm: {"name": arm["name"]}),
    "another word": (("arm", "timeline"), "yesterday"),
    "a digest that is none": (("corpus", "fingerprint"), "abc"),
    "null": (("queries",), None),
    "a half of a surrogate pair": (("corpus", "key"), "\ud800"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_of_another_type_is_named_with_its_place(name, document):
    path, value = WRONG[name]
    with pytest.raises(ReportError, match=r"the file is not a membench\.measurement/1") as caught:
        parsed(changed(document, path, value))
    if name != "a half of a surrogate pair":
        assert str(path[0]) in str(caught.value)


def test_a_message_shows_no_control_characters_of_the_file(document):
    evil = "\x1b[2J\u202e"
    for one in (
        changed(document, ("arm",), lambda arm: {**arm, evil: 1}),
        changed(document, ("queries", 0), lambda query: {**query, "id": evil, "session_observed": 0}),
        {"schema": evil},
        changed(document, ("by_category", 0), lambda found: {**found, "number": evil}),
    ):
        with pytest.raises(ReportError) as caught:
            parsed(one)
        assert "\x1b" not in str(caught.value)
        assert "\u202e" not in str(caught.value)


NO_FILES = {
    "empty": b"",
    "binary": bytes(range(256)),
    "a list": b"[]",
    "a number": b"1",
    "deep": b"[" * 100_000,
    "deep under a key": b'{"schema": "membench.measurement/1", "corpus": ' + b'{"a":' * 50_000,
    "deep and whole": b'{"schema": ' + b"[" * 900 + b"]" * 900 + b"}",
    "a schema that is no text": b'{"schema": 1}',
    "another file of ours": b'{"schema": "membench.comparison/1"}',
    "a number that is no number": b'{"schema": "membench.measurement/"}',
    "a number in other digits": '{"schema": "membench.measurement/٣"}'.encode(),
    "a number with a zero before it": b'{"schema": "membench.measurement/01"}',
    "an endless number": b'{"schema": "membench.measurement/' + b"9" * 10_000 + b'"}',
    "a huge integer": b'{"schema": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_measurement_is_said_to_be_none(name):
    with pytest.raises(ReportError, match="the file is not"):
        parse_measurement(NO_FILES[name], "the file")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_a_figure_that_is_no_number_is_refused(number, few):
    data = canonical_json(few)
    value = json.dumps(few.metrics.session.recall_all["5"].value).encode()
    assert value in data
    with pytest.raises(ReportError, match="the file is not"):
        parse_measurement(data.replace(b'"value": ' + value, b'"value": ' + number.encode(), 1), "the file")


def test_a_file_that_was_cut_is_refused_wherever(few):
    data = canonical_json(few)
    for end in range(0, len(data) - 2, len(data) // 40):
        with pytest.raises(ReportError, match="is not JSON"):
            parse_measurement(data[:end], "the file")


def test_a_file_in_another_encoding_is_refused(few):
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        with pytest.raises(ReportError):
            parse_measurement(canonical_json(few).decode().encode(encoding), "the file")


@pytest.mark.parametrize(("number", "age"), [("0", "older"), ("2", "newer"), ("999999999", "newer")])
def test_another_version_is_told_apart(number, age, document):
    found = parsed({**document, "schema": f"membench.measurement/{number}"})
    assert found == OtherSchema(f"membench.measurement/{number}", age)


def test_what_cannot_be_read_is_a_storage_error(tmp_path):
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(StorageError):
            read_measurement(path)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.sampled_from(
        [10**30, 10**400, -1, 0, 1e308, 5e-324, "", "\x00", "x" * 300, "now", "session", [], {}, [[]], [None]]
    ),
    st.text(max_size=5),
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_put_anywhere_gives_a_comparison_or_an_error_that_a_person_can_act_on(data, document, few):
    every = [path for path in places(document) if path]
    path = data.draw(st.sampled_from(every))
    try:
        found = parsed(changed(document, path, data.draw(JUNK)))
        assert compare(few, found).verdict
        assert compare(found, few).verdict
    except MembenchError as error:
        assert str(error)
