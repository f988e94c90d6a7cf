"""LoCoMo, read from the published file: every count is one that FACTS or the paper's repository states."""

import json
from collections import Counter
from datetime import datetime, timedelta

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.types import Category

MALFORMED = {
    "conv-26:37": "D8:6; D9:17",
    "conv-42:58": "D10:19",
    "conv-42:88": "D",
    "conv-43:18": "D:11:26",
    "conv-47:38": "D4:36",
    "conv-49:31": "D9:1 D4:4 D4:6",
    "conv-49:38": "D22:1 D22:2 D9:10 D9:11",
    "conv-49:46": "D21:18 D21:22 D11:15 D11:19",
    "conv-50:69": "D30:05",
}
REPAIRED = {
    "conv-26:37": {"D8:6", "D9:17"},
    "conv-43:18": {"D11:26"},
    "conv-49:31": {"D9:1", "D4:4", "D4:6"},
    "conv-49:38": {"D22:1", "D22:2", "D9:10", "D9:11"},
    "conv-49:46": {"D21:18", "D21:22", "D11:15", "D11:19"},
    "conv-50:69": {"D30:5"},
}


def opened(path, **reading):
    return open_corpus(str(path), path.parent, Reading(**reading), "locomo")


@pytest.fixture(scope="module")
def raw(locomo_file):
    return json.loads(locomo_file.read_bytes())


@pytest.fixture(scope="module")
def verbatim(locomo_file):
    return list(opened(locomo_file).instances())


@pytest.fixture(scope="module")
def repaired(locomo_file):
    return list(opened(locomo_file, gold="repaired").instances())


def queries_of(instances):
    return {query.id: query for instance in instances for query in instance.queries}


def test_everything_is_counted(locomo_file):
    found = opened(locomo_file).survey
    assert (found.instances, found.sessions, found.turns, found.queries) == (10, 272, 5_882, 1_986)
    assert (found.scorable, found.unanswerable, found.without_gold) == (1_531, 446, 9)
    assert found.has_distractors


def test_its_quirks_are_the_malformed_references_alone(locomo_file):
    quirks = opened(locomo_file).survey.quirks
    assert quirks.dangling_references == 9
    assert {getattr(quirks, name) for name in quirks.__slots__ if name != "dangling_references"} == {0}


def test_turns_are_written_with_their_speakers_and_captions(locomo_file):
    text = opened(locomo_file).text
    assert text.captions
    assert text.speakers


def test_categories_have_a_name_and_the_number_of_the_file(verbatim):
    counted = Counter(query.category for query in queries_of(verbatim).values())
    assert counted == {
        Category("multi-hop", 1): 282,
        Category("temporal", 2): 321,
        Category("open-domain", 3): 96,
        Category("single-hop", 4): 841,
        Category("adversarial", 5): 446,
    }


def test_the_adversarial_queries_are_the_unanswerable_ones(verbatim):
    for query in queries_of(verbatim).values():
        assert query.unanswerable == (query.category.number == 5)


def test_exactly_the_malformed_references_dangle(verbatim):
    dangling = {name: query.dangling for name, query in queries_of(verbatim).items() if query.dangling}
    assert dangling == {name: (reference,) for name, reference in MALFORMED.items()}


def test_nine_queries_have_no_gold_five_of_them_by_a_malformed_reference(verbatim):
    without = {name for name, query in queries_of(verbatim).items() if not query.gold_sessions}
    assert without - set(MALFORMED) == {"conv-26:30", "conv-26:46", "conv-50:39", "conv-50:42"}
    assert len(without & set(MALFORMED)) == 5


def test_repaired_resolves_all_but_three_references(repaired):
    dangling = {name: query.dangling for name, query in queries_of(repaired).items() if query.dangling}
    assert dangling == {"conv-42:58": ("D10:19",), "conv-42:88": ("D",), "conv-47:38": ("D4:36",)}


def test_repaired_makes_the_right_turns_gold_and_changes_no_other_query(verbatim, repaired, raw):
    written = {
        f"{sample['sample_id']}:{index}": set(question["evidence"])
        for sample in raw
        for index, question in enumerate(sample["qa"])
    }
    before, after = queries_of(verbatim), queries_of(repaired)
    assert {name for name in after if after[name] != before[name]} == set(REPAIRED)
    for name, gained in REPAIRED.items():
        assert set(after[name].gold_turns) == written[name] - {MALFORMED[name]} | gained
        assert {turn.split(":")[0].replace("D", "session_") for turn in after[name].gold_turns} == set(
            after[name].gold_sessions
        )


def test_repaired_scores_five_queries_more(locomo_file):
    found = opened(locomo_file, gold="repaired").survey
    assert (found.scorable, found.unanswerable, found.without_gold) == (1_536, 446, 4)
    assert found.quirks.dangling_references == 3


def test_gold_stands_in_the_order_of_the_conversation(verbatim):
    for instance in verbatim:
        place = {turn.id: number for number, turn in enumerate(t for s in instance.sessions for t in s.turns)}
        for query in instance.queries:
            assert list(query.gold_turns) == sorted(set(query.gold_turns), key=place.__getitem__)


def test_every_date_parses_to_what_is_written(verbatim, raw):
    for instance, sample in zip(verbatim, raw, strict=True):
        for session in instance.sessions:
            date, text = session.date, sample["conversation"][f"{session.id}_date_time"]
            shown = f"{date.hour % 12 or 12}:{date:%M} {'pm' if date.hour >= 12 else 'am'} on {date.day} {date:%B, %Y}"
            assert shown == text


def test_the_widest_conversation_spans_293_days(verbatim):
    spans = [
        max(session.date for session in instance.sessions) - min(session.date for session in instance.sessions)
        for instance in verbatim
    ]
    assert max(spans) // timedelta(days=1) == 293


def test_date_keys_without_a_session_are_no_sessions(verbatim, raw):
    dates = {key.removesuffix("_date_time") for key in raw[0]["conversation"] if key.endswith("_date_time")}
    assert verbatim[0].id == "conv-26"
    assert len(dates - {session.id for session in verbatim[0].sessions}) == 16


def test_sessions_stand_in_the_order_of_their_numbers(verbatim):
    for instance in verbatim:
        numbers = [int(session.id.removeprefix("session_")) for session in instance.sessions]
        assert numbers == sorted(numbers)
        assert numbers[-1] > 10


def test_queries_with_integer_answers_are_read(verbatim, raw):
    integers = {
        f"{sample['sample_id']}:{index}"
        for sample in raw
        for index, question in enumerate(sample["qa"])
        if isinstance(question.get("answer"), int)
    }
    assert len(integers) == 6
    assert integers <= set(queries_of(verbatim))


def test_a_session_number_with_a_leading_zero_is_read(corpus_file):
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Oslo."}
    conversation = {
        "session_02": [{**turn, "dia_id": "D2:1"}],
        "session_01": [turn],
        "session_01_date_time": "1:56 pm on 8 May, 2023",
    }
    question = {"question": "Where did Ann move?", "category": 4, "evidence": ["D1:1"], "answer": "Oslo"}
    path = corpus_file([{"sample_id": "c", "conversation": conversation, "qa": [question]}])
    (instance,) = opened(path).instances()
    assert [session.id for session in instance.sessions] == ["session_01", "session_02"]
    assert [session.date for session in instance.sessions] == [datetime(2023, 5, 8, 13, 56), None]
