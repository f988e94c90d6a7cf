"""The shared pool: every distinct session once, before any search, and gold credited whichever copy of it came back."""

import re
from datetime import datetime

import pytest
from ruled import measure

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.embedding.choice import EmbedderChoice
from membench.errors import CorpusError
from membench.memories.catalog import build_memory
from membench.memories.protocol import Description, Hit, Receipt
from membench.reports.build import head_of, measurement_of
from membench.ruler.accounting import GoldLost
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent

STORED = Receipt("stored")


def session(name, date, *texts):
    turns = [
        {"id": f"{name}-{number}", "role": "user", "speaker": "Ann", "text": text}
        for number, text in enumerate(texts, start=1)
    ]
    return {"id": name, "date": date, "turns": turns}


def query(name, sessions, turns, **more):
    category = {"name": "single-hop", "number": 1}
    return {"id": name, "text": f"{name}?", "category": category, "gold_sessions": sessions, "gold_turns": turns} | more


def instance(name, sessions, queries):
    return {"id": name, "sessions": sessions, "queries": queries}


@pytest.fixture
def two_haystacks():
    """`dog` stands in both, under another date, and as `copy` in the second one too; `chat` names two sessions."""
    dog, chat = ("I got a dog.", "Rex is his name."), ("Nice weather.",)
    return {
        "schema": "membench.corpus/1",
        "instances": [
            instance(
                "i1",
                [session("chat", "2024-01-01", *chat), session("dog", "2024-02-01", *dog)],
                [query("q1", ["dog"], ["dog-2"], asked="2024-06-01")],
            ),
            instance(
                "i2",
                [
                    session("copy", "2024-03-01", "I got a dog.", " ", "Rex is his name."),
                    session("chat", "2024-04-01", "It rains."),
                    session("dog", "2024-05-01", *dog),
                    session("blank", "2024-05-02", " "),
                ],
                [query("q2", ["copy", "chat"], ["copy-2", "copy-3"], asked="2024-07-01"), query("q3", ["blank"], [])],
            ),
        ],
    }


def shared(corpus, memory, **arm):
    (result,) = measure(corpus, [Arm(memory, pool="shared", **arm)], None, Silent())
    return result


def reported(corpus, result):
    return measurement_of(head_of(corpus, result.arm, result.memory, None, EmbedderChoice()), result.parts)


def test_every_distinct_session_is_written_once_before_the_first_search(corpus_of, two_haystacks, memory_that):
    written = []
    memory = memory_that(searching=lambda units, query: written.append(len(units)) or [])
    shared(corpus_of(two_haystacks), memory)
    assert [unit.text for unit in memory.units] == ["Nice weather.", "I got a dog.", "Rex is his name.", "It rains."]
    assert memory.pools == ["p1"]
    assert written == [4, 4, 4]


def test_each_count_is_its_own_number(corpus_of, two_haystacks, memory_that):
    corpus = corpus_of(two_haystacks)
    counts = reported(corpus, shared(corpus, memory_that())).accounting.shared
    assert counts.model_dump() == {
        "session_references": 6,
        "session_ids": 4,
        "session_texts": 3,
        "units_accepted": 4,
        "writes_collapsed": 0,
        "units_refused": 0,
        "rows": 4,
        "redated_references": 2,
        "sessions_never_stored": 0,
    }


def test_a_query_credits_its_gold_whichever_instance_it_was_written_from(corpus_of, two_haystacks, memory_that):
    memory = memory_that(searching=lambda units, query: [Hit(2.0, units[2].id), Hit(1.0, units[3].id)])
    first, second, _ = shared(corpus_of(two_haystacks), memory).queries
    assert (first.gold_sessions, first.session_ranks, first.turn_ranks) == (("dog",), (1,), (1,))
    assert (second.gold_sessions, second.session_ranks) == (("copy", "chat"), (1, 2))
    assert (second.gold_turns, second.turn_ranks) == (("copy-2", "copy-3"), (None, 1))


def test_a_twin_takes_no_second_rank(corpus_of, two_haystacks, memory_that):
    first, second, _ = shared(corpus_of(two_haystacks), memory_that()).queries
    assert (first.session_observed, second.session_observed) == (3, 3)
    assert (first.session_ranks, second.session_ranks) == ((2,), (2, 3))
    assert [hit[0] for hit in first.hits] == ["chat", "dog", "dog", "chat#2"]


def test_two_gold_sessions_of_one_text_are_one_gold_session(corpus_of, two_haystacks, memory_that):
    query = two_haystacks["instances"][1]["queries"][0]
    query |= {"gold_sessions": ["copy", "dog", "chat"], "gold_turns": ["copy-3", "dog-1", "dog-2"]}
    corpus = corpus_of(two_haystacks)
    result = shared(corpus, memory_that())
    (_, second, _) = result.queries
    assert (second.gold_sessions, second.session_ranks) == (("copy", "chat"), (2, 3))
    assert (second.gold_turns, second.turn_ranks) == (("copy-3", "dog-1"), (3, 2))
    for level in (reported(corpus, result).metrics.session, reported(corpus, result).metrics.turn):
        assert all(figure.value <= 1 for row in (level.ndcg, level.recall_micro) for figure in row.values())


def test_gold_that_stands_nowhere_is_named_as_its_query_names_it(corpus_of, two_haystacks, memory_that):
    writing = lambda units: [Receipt("refused", "no dogs") if "Rex" in one.text else STORED for one in units]  # noqa: E731
    blank = "nothing of it is written: it is blank, or of other roles"
    assert shared(corpus_of(two_haystacks), memory_that(writing=writing)).accounting.gold_lost == [
        GoldLost("i1", "dog", "dog-2", "refused: no dogs"),
        GoldLost("i2", "copy", "copy-2", blank),
        GoldLost("i2", "copy", "copy-3", "refused: no dogs"),
        GoldLost("i2", "blank", None, blank),
    ]


def test_a_refused_unit_makes_the_measurement_unclean(corpus_of, two_haystacks, memory_that):
    corpus = corpus_of(two_haystacks)
    writing = lambda units: [Receipt("refused", "no dogs") if "Rex" in one.text else STORED for one in units]  # noqa: E731
    found = reported(corpus, shared(corpus, memory_that(writing=writing)))
    assert (found.status, found.counts.scored) == ("unclean", 3)
    assert found.reasons == ["the memory refused 1 of 4 units of the shared pool: 1 no dogs"]
    assert found.accounting.shared.rows == 3


def test_a_session_that_is_stored_nowhere_makes_the_measurement_unclean(corpus_of, two_haystacks, memory_that):
    corpus = corpus_of(two_haystacks)
    writing = lambda units: [Receipt("duplicate", "like others") if "rain" in u.text else STORED for u in units]  # noqa: E731
    found = reported(corpus, shared(corpus, memory_that(writing=writing)))
    assert found.reasons == ["1 of 3 sessions of the shared pool stand nowhere in the store"]
    assert found.accounting.shared.writes_collapsed == 1


def test_a_collapsed_unit_of_a_session_that_stands_is_counted_and_clean(corpus_of, two_haystacks, memory_that):
    corpus = corpus_of(two_haystacks)
    writing = lambda units: [Receipt("duplicate") if "Rex" in one.text else STORED for one in units]  # noqa: E731
    found = reported(corpus, shared(corpus, memory_that(writing=writing)))
    assert (found.status, found.accounting.shared.writes_collapsed) == ("clean", 1)


def test_displaced_units_are_no_rows_at_the_end(corpus_of, two_haystacks, memory_that):
    corpus = corpus_of(two_haystacks)
    writing = lambda units: [  # noqa: E731
        Receipt("stored", displaced=("p1u1",)) if "rain" in one.text else STORED for one in units
    ]
    found = reported(corpus, shared(corpus, memory_that(writing=writing)))
    assert (found.accounting.shared.units_accepted, found.accounting.shared.rows) == (4, 3)
    assert found.reasons == ["1 of 3 sessions of the shared pool stand nowhere in the store"]


@pytest.mark.parametrize(
    ("timeline", "said", "asked"),
    [
        ("now", {"2024-05-02"}, ["2024-05-02"] * 3),
        ("anchored", {"2024-01-01", "2024-02-01", "2024-04-01"}, ["2024-05-02"] * 3),
        ("asked", {"2024-01-01", "2024-02-01", "2024-04-01"}, ["2024-06-01", "2024-07-01", "2024-07-01"]),
    ],
)
def test_time_is_that_of_the_whole_corpus(timeline, said, asked, corpus_of, two_haystacks, memory_that):
    two_haystacks["instances"][1]["queries"][1]["asked"] = "2024-07-01"
    memory = memory_that()
    shared(corpus_of(two_haystacks), memory, timeline=timeline)
    assert {unit.time for unit in memory.units} == set(map(datetime.fromisoformat, said))
    assert [as_of for _, _, as_of in memory.searches] == list(map(datetime.fromisoformat, asked))


@pytest.mark.parametrize("granularity", ["chunk", "session"])
def test_larger_units_are_credited_too(granularity, corpus_of, two_haystacks, memory_that):
    result = shared(corpus_of(two_haystacks), memory_that(), granularity=granularity)
    assert [one.session_ranks for one in result.queries] == [(2,), (2, 3), (None,)]
    assert result.accounting.attempted == 3


def test_what_a_memory_is_given_tells_no_answer(longmemeval_s_file, tmp_path, memory_that):
    corpus = open_corpus(str(longmemeval_s_file), tmp_path, Reading(part=Slice(instances=3)), "longmemeval")
    memory = memory_that()
    shared(corpus, memory)
    given = {*memory.pools, *(name for unit in memory.units for name in (unit.id, unit.session))}
    assert all(re.fullmatch(r"p1([us][0-9]+)?", name) for name in given)


def test_a_haystack_of_evidence_alone_is_measured_in_a_shared_pool_only(oracle_file, tmp_path):
    corpus = open_corpus(str(oracle_file), tmp_path, Reading(part=Slice(instances=20)), "longmemeval")
    memory = build_memory("bm25", {}, None)
    with pytest.raises(CorpusError) as refused:
        measure(corpus, [Arm(memory)], None, Silent())
    assert "--pool shared" in refused.value.remedy and "longmemeval_s" in refused.value.remedy
    found = reported(corpus, shared(corpus, memory))
    assert found.metrics.session.recall_any["5"].value > 0.5
    assert found.accounting.shared.session_references == corpus.survey.sessions


def test_an_own_memory_that_is_built_otherwise_again_is_noisy(corpus_of, two_haystacks, memory_that):
    def searching(units, query):
        turned = units[0].id.startswith("p2")
        return [Hit(-float(place), unit.id) for place, unit in enumerate(reversed(units) if turned else units)]

    own = lambda: Description("scripted", "1", "none", own=True)  # noqa: E731
    corpus = corpus_of(two_haystacks)
    memory = memory_that(describing=own)
    assert not shared(corpus, memory).noisy
    assert memory.pools == ["p1", "p0", "p2"]
    assert shared(corpus, memory_that(describing=own, searching=searching)).noisy
