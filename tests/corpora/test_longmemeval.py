"""LongMemEval, read from the published files: their quirks are counted, and read all the same."""

import gzip
import json
from collections import Counter
from itertools import islice

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.longmemeval import read_instance
from membench.corpora.reading import json_values

TYPES = {
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
}


def opened(path):
    return open_corpus(str(path), path.parent, Reading(), "longmemeval")


@pytest.fixture(scope="module")
def oracle(oracle_file):
    return opened(oracle_file)


@pytest.fixture(scope="module")
def oracle_instances(oracle):
    return list(oracle.instances())


@pytest.fixture(scope="module")
def oracle_raw(oracle_file):
    return json.loads(gzip.decompress(oracle_file.read_bytes()))


@pytest.fixture(scope="module")
def s_survey(longmemeval_s_file):
    return opened(longmemeval_s_file).survey


def counted(path):
    """What the survey does not count, or counts of answerable queries only."""
    counts = Counter()
    dates: dict[str, set[str]] = {}
    for raw, instance in raw_and_read(path, None):
        query = instance.queries[0]
        gold = set(query.gold_turns)
        homes = {turn.id: session for session in instance.sessions for turn in session.turns}
        roles = Counter(turn.role for session in instance.sessions for turn in session.turns if turn.id in gold)
        counts["integer answers"] += isinstance(raw["answer"], int)
        counts["without gold turn"] += not gold
        counts["without gold turn, unanswerable"] += not gold and query.unanswerable
        counts["gold turns of the assistant"] += roles["assistant"]
        counts["begun by the assistant"] += sum(session.turns[0].role == "assistant" for session in instance.sessions)
        counts["gold turn after the question"] += any(homes[name].date > query.asked for name in gold)
        without = set(query.gold_sessions) - {homes[name].id for name in gold}
        counts["gold sessions without gold turn"] += len(without)
        counts["gold sessions without gold turn, unanswerable"] += len(without) * query.unanswerable
        for name, date in zip(raw["haystack_session_ids"], raw["haystack_dates"], strict=True):
            dates.setdefault(name, set()).add(date)
    counts["unique session ids"] = len(dates)
    counts["session ids of several dates"] = sum(len(of) > 1 for of in dates.values())
    return counts


def raw_and_read(path, count):
    for position, value in enumerate(islice(json_values(path), count)):
        yield value, read_instance(value, path, position)


def test_oracle_is_counted(oracle):
    found = oracle.survey
    assert (found.instances, found.sessions, found.turns, found.queries) == (500, 948, 10_960, 500)
    assert (found.scorable, found.unanswerable, found.without_gold) == (470, 30, 0)


def test_in_oracle_every_session_is_gold(oracle, oracle_instances):
    assert oracle.evidence_only
    for instance in oracle_instances:
        assert instance.queries[0].gold_sessions == tuple(session.id for session in instance.sessions)


def test_oracle_quirks(oracle):
    quirks = oracle.survey.quirks
    assert quirks.unsorted_instances == 34
    assert quirks.repeated_session_ids == 0
    assert quirks.blank_turns == 0
    assert quirks.undated_sessions == 0
    assert quirks.dangling_references == 0
    assert quirks.instances_without_sessions == 0


def test_evidence_of_oracle(oracle, oracle_file):
    """The survey counts answerable queries, and evidence after the question by gold sessions, not by gold turns."""
    assert counted(oracle_file) == {
        "integer answers": 32,
        "without gold turn": 21,
        "without gold turn, unanswerable": 21,
        "gold turns of the assistant": 54,
        "begun by the assistant": 5,
        "gold turn after the question": 42,
        "gold sessions without gold turn": 94,
        "gold sessions without gold turn, unanswerable": 49,
        "unique session ids": 940,
        "session ids of several dates": 8,
    }
    assert oracle.survey.quirks.evidence_after_question == 43
    assert oracle.survey.quirks.gold_sessions_without_gold_turn == 94 - 49


def test_the_six_question_types_are_the_categories(oracle_instances):
    categories = {query.category for instance in oracle_instances for query in instance.queries}
    assert {category.name for category in categories} == TYPES
    assert all(category.number == category.name for category in categories)


def test_gold_turns_are_those_with_an_answer_of_both_roles(oracle_instances, oracle_raw):
    for instance, raw in zip(oracle_instances, oracle_raw, strict=True):
        turns = [turn for session in instance.sessions for turn in session.turns]
        marked = [turn.get("has_answer") for session in raw["haystack_sessions"] for turn in session]
        gold = {turn.id for turn, mark in zip(turns, marked, strict=True) if mark}
        assert set(instance.queries[0].gold_turns) == gold


def test_every_date_parses_to_what_is_written(oracle_instances, oracle_raw):
    for instance, raw in zip(oracle_instances, oracle_raw, strict=True):
        assert f"{instance.queries[0].asked:%Y/%m/%d (%a) %H:%M}" == raw["question_date"]
        assert [f"{session.date:%Y/%m/%d (%a) %H:%M}" for session in instance.sessions] == raw["haystack_dates"]


def test_s_is_read_as_it_is_written(longmemeval_s_file):
    for raw, instance in raw_and_read(longmemeval_s_file, 40):
        assert [[(turn["role"], turn["content"]) for turn in session] for session in raw["haystack_sessions"]] == [
            [(turn.role, turn.text) for turn in session.turns] for session in instance.sessions
        ]
        assert set(instance.queries[0].gold_sessions) == set(raw["answer_session_ids"])


def test_in_s_a_repeated_session_id_is_kept_apart(longmemeval_s_file):
    repeated = 0
    for raw, instance in raw_and_read(longmemeval_s_file, 40):
        ids = raw["haystack_session_ids"]
        names = [session.id for session in instance.sessions]
        assert len(set(names)) == len(names)
        for place, (name, written) in enumerate(zip(names, ids, strict=True)):
            later = written in ids[:place]
            assert name == (f"{written}#2" if later else written)
            assert instance.sessions[place].repeated == later
            repeated += later
    assert repeated == 2


@pytest.mark.slow
def test_s_is_counted(s_survey):
    assert (s_survey.instances, s_survey.sessions, s_survey.turns, s_survey.queries) == (499, 23_806, 246_189, 499)
    assert (s_survey.scorable, s_survey.unanswerable, s_survey.without_gold) == (469, 30, 0)
    assert s_survey.has_distractors


@pytest.mark.slow
def test_s_quirks(s_survey):
    quirks = s_survey.quirks
    assert quirks.repeated_session_ids == 13
    assert quirks.unsorted_instances == 210
    assert quirks.blank_turns == 12
    assert quirks.evidence_after_question == 44
    assert quirks.gold_sessions_without_gold_turn == 45
    assert quirks.undated_sessions == 0
    assert quirks.dangling_references == 0
    assert quirks.instances_without_sessions == 0


@pytest.mark.slow
def test_evidence_of_s(longmemeval_s_file):
    assert counted(longmemeval_s_file) == {
        "integer answers": 32,
        "without gold turn": 21,
        "without gold turn, unanswerable": 21,
        "gold turns of the assistant": 54,
        "begun by the assistant": 1_933,
        "gold turn after the question": 43,
        "gold sessions without gold turn": 94,
        "gold sessions without gold turn, unanswerable": 49,
        "unique session ids": 19_167,
        "session ids of several dates": 3_916,
    }


def question(**changed):
    turns = [{"role": "user", "content": "I moved to Oslo."}, {"role": "assistant", "content": "Nice."}]
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Where do I live?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "Oslo",
        "answer_session_ids": ["a"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * 4,
        "haystack_session_ids": ["a", "a", "a#2", "a"],
        "haystack_sessions": [turns] * 4,
        **changed,
    }


def test_a_repeated_id_never_takes_the_name_of_another(tmp_path):
    instance = read_instance(question(), tmp_path, 0)
    assert [session.id for session in instance.sessions] == ["a", "a#3", "a#2", "a#4"]
    assert [session.repeated for session in instance.sessions] == [False, True, False, True]
    assert instance.queries[0].gold_sessions == ("a",)


def test_a_date_that_does_not_parse_is_counted_and_no_date(corpus_file):
    corpus = opened(corpus_file([question(haystack_dates=["2023/05/20 (Sat) 02:21", "soon", "", "2023-05-20"])]))
    assert corpus.survey.quirks.undated_sessions == 3
    assert [session.date is None for session in next(corpus.instances()).sessions] == [False, True, True, True]


def test_gold_that_names_nothing_is_counted_and_a_query_of_no_other_is_without_gold(corpus_file):
    other = question(question_id="q2", answer_session_ids=["answer_9", "b"])
    corpus = opened(corpus_file([question(answer_session_ids=["a", "A"]), other]))
    assert [one.queries[0].dangling for one in corpus.instances()] == [("A",), ("answer_9", "b")]
    assert corpus.survey.quirks.dangling_references == 3
    assert (corpus.survey.scorable, corpus.survey.without_gold) == (1, 1)


def test_an_instance_without_sessions_is_counted_and_has_no_gold(corpus_file):
    nothing = {"haystack_dates": [], "haystack_session_ids": [], "haystack_sessions": []}
    corpus = opened(corpus_file([question(question_id="q0", **nothing), question()]))
    assert [len(one.sessions) for one in corpus.instances()] == [0, 4]
    assert corpus.survey.quirks.instances_without_sessions == 1
    assert (corpus.survey.scorable, corpus.survey.without_gold) == (1, 1)


def test_an_empty_session_is_read_and_holds_no_gold_turn(corpus_file):
    sessions = [[], *question()["haystack_sessions"][1:]]
    corpus = opened(corpus_file([question(haystack_sessions=sessions)]))
    instance = next(corpus.instances())
    assert instance.sessions[0].turns == ()
    assert instance.queries[0].gold_sessions == ("a",)
    assert corpus.survey.quirks.gold_sessions_without_gold_turn == 1


def test_a_turn_is_gold_only_where_it_is_marked_true(corpus_file):
    marks = [{}, {"has_answer": None}, {"has_answer": False}, {"has_answer": True}]
    first = [{"role": "user", "content": "I moved to Oslo.", **mark} for mark in marks]
    corpus = opened(corpus_file([question(haystack_sessions=[first, first, first, first])]))
    assert next(corpus.instances()).queries[0].gold_turns == ("a:4",)


def test_a_question_date_that_does_not_parse_is_no_date(corpus_file):
    corpus = opened(corpus_file([question(question_date="2023-05-01")]))
    assert next(corpus.instances()).queries[0].asked is None
    assert corpus.survey.quirks.evidence_after_question == 0
