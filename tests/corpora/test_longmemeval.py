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


@pytest.fixture(scope="module")
def oracle(oracle_file):
    return open_corpus(str(oracle_file), oracle_file.parent, Reading(), "longmemeval")


@pytest.fixture(scope="module")
def oracle_instances(oracle):
    return list(oracle.instances())


@pytest.fixture(scope="module")
def oracle_raw(oracle_file):
    return json.loads(gzip.decompress(oracle_file.read_bytes()))


@pytest.fixture(scope="module")
def s_survey(longmemeval_s_file):
    return open_corpus(str(longmemeval_s_file), longmemeval_s_file.parent, Reading(), "longmemeval").survey


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


def test_evidence_after_the_question_counts_gold_sessions(oracle, oracle_instances):
    """FACTS has 42: those with a gold turn in a session after the question. One more has a gold session without one."""
    with_turn = 0
    for instance in oracle_instances:
        query = instance.queries[0]
        after = [session for session in instance.sessions if session.date > query.asked]
        with_turn += bool({turn.id for session in after for turn in session.turns} & set(query.gold_turns))
    assert with_turn == 42
    assert oracle.survey.quirks.evidence_after_question == 43


def test_gold_sessions_without_a_gold_turn_count_answerable_queries(oracle, oracle_instances):
    """FACTS has 94: 49 of them belong to unanswerable queries, which are never scored."""
    without = Counter(
        query.unanswerable
        for instance in oracle_instances
        for query in instance.queries
        for session in instance.sessions
        if session.id in query.gold_sessions and not {turn.id for turn in session.turns} & set(query.gold_turns)
    )
    assert without == {True: 49, False: 45}
    assert oracle.survey.quirks.gold_sessions_without_gold_turn == 45


def test_queries_without_any_gold_turn_are_all_unanswerable(oracle_instances):
    without = [query for instance in oracle_instances for query in instance.queries if not query.gold_turns]
    assert len(without) == 21
    assert all(query.unanswerable and query.id.endswith("_abs") for query in without)


def test_the_six_question_types_are_the_categories(oracle_instances):
    categories = {query.category for instance in oracle_instances for query in instance.queries}
    assert {category.name for category in categories} == TYPES
    assert all(category.number == category.name for category in categories)


def test_gold_turns_are_those_with_an_answer_of_both_roles(oracle_instances, oracle_raw):
    roles = Counter()
    for instance, raw in zip(oracle_instances, oracle_raw, strict=True):
        turns = [turn for session in instance.sessions for turn in session.turns]
        marked = [turn.get("has_answer") for session in raw["haystack_sessions"] for turn in session]
        gold = {turn.id for turn, mark in zip(turns, marked, strict=True) if mark}
        assert set(instance.queries[0].gold_turns) == gold
        roles.update(turn.role for turn in turns if turn.id in gold)
    assert roles["assistant"] == 54


def test_queries_with_integer_answers_are_read(oracle_instances, oracle_raw):
    integers = {raw["question_id"] for raw in oracle_raw if isinstance(raw["answer"], int)}
    assert len(integers) == 32
    assert integers <= {instance.id for instance in oracle_instances}


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
    assert (s_survey.instances, s_survey.sessions, s_survey.queries) == (499, 23_806, 499)
    assert (s_survey.scorable, s_survey.unanswerable, s_survey.without_gold) == (469, 30, 0)
    assert s_survey.has_distractors


@pytest.mark.slow
def test_s_quirks(s_survey):
    quirks = s_survey.quirks
    assert quirks.repeated_session_ids == 13
    assert quirks.unsorted_instances == 210
    assert quirks.blank_turns == 12
    # FACTS has 43 by gold turns and 94 with the unanswerable, as in oracle.
    assert quirks.evidence_after_question == 44
    assert quirks.gold_sessions_without_gold_turn == 45
    assert quirks.undated_sessions == 0
    assert quirks.dangling_references == 0


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
    path = corpus_file([question(haystack_dates=["2023/05/20 (Sat) 02:21", "soon", "", "2023-05-20"])])
    corpus = open_corpus(str(path), path.parent, Reading(), "longmemeval")
    assert corpus.survey.quirks.undated_sessions == 3
    assert [session.date is None for session in next(corpus.instances()).sessions] == [False, True, True, True]
