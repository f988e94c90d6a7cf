"""LongMemEval through the ruler: every granularity and role, each session ranked by its best fragment."""

import pytest
from ruled import measure

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.memories.catalog import build_memory
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent


def opened(path, folder, **reading):
    return open_corpus(str(path), folder, Reading(part=Slice(instances=4), **reading), "longmemeval")


@pytest.fixture
def corpus(longmemeval_s_file, tmp_path):
    return opened(longmemeval_s_file, tmp_path)


@pytest.mark.parametrize("granularity", ["turn", "chunk", "session"])
def test_every_turn_is_attempted_whatever_is_written_once(granularity, corpus, memory_that):
    memory = memory_that(searching=lambda units, query: [])
    (result,) = measure(corpus, [Arm(memory, granularity=granularity)], None, Silent())
    spoken = [
        turn.text.strip()
        for instance in corpus.instances()
        for session in instance.sessions
        for turn in session.turns
        if turn.text.strip()
    ]
    written = sum(len("".join(unit.text.split())) for unit in memory.units)
    assert written == sum(len("".join(text.split())) for text in spoken)
    expected = {"turn": len(spoken), "session": corpus.survey.sessions}
    assert result.accounting.attempted == len(memory.units) == expected.get(granularity, len(memory.units))


def test_of_one_role_the_turns_of_the_other_are_neither_written_nor_gold(longmemeval_s_file, tmp_path, memory_that):
    users = opened(longmemeval_s_file, tmp_path, roles="user")
    memory = memory_that(searching=lambda units, query: [])
    (result,) = measure(users, [Arm(memory)], None, Silent())
    everyone = opened(longmemeval_s_file, tmp_path)
    said = [
        turn
        for instance in everyone.instances()
        for session in instance.sessions
        for turn in session.turns
        if turn.role == "user" and turn.text.strip()
    ]
    assert [unit.text for unit in memory.units] == [turn.text for turn in said]
    assert {turn for query in result.queries for turn in query.gold_turns} <= {turn.id for turn in said}


@pytest.mark.parametrize("granularity", ["turn", "chunk"])
def test_a_session_ranks_by_its_best_fragment(granularity, corpus):
    (result,) = measure(corpus, [Arm(build_memory("bm25", {}, None), granularity=granularity)], None, Silent())
    for query in result.queries:
        order = list(dict.fromkeys(session for session, _, _ in query.hits))
        expected = [order.index(name) + 1 if name in order else None for name in query.gold_sessions]
        assert list(query.session_ranks) == expected
        assert query.session_observed == len(order)
    assert any(len(query.hits) > query.session_observed for query in result.queries)
