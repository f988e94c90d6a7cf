"""What cannot be measured is refused before anything is written; a call that fails is breakage, by name."""

import math

import numpy as np
import pytest
from ruled import measure

from membench.corpora.corpus import Reading, open_corpus
from membench.errors import CorpusError, InstrumentError, MemoryCallError, ModelError, UsageError
from membench.memories.catalog import build_memory
from membench.memories.protocol import Hit, Receipt
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent


def run(corpus, memory, **arm):
    return measure(corpus, [Arm(memory, **arm)], None, Silent())


def broken(corpus, memory):
    with pytest.raises(MemoryCallError) as raised:
        run(corpus, memory)
    assert raised.value.exit_code == 1
    assert raised.value.remedy
    return raised.value.what


def failing(error, when=lambda *_: True):
    def call(*arguments):
        if when(*arguments):
            raise error
        return [Receipt("stored") for _ in arguments[0]]

    return call


def test_a_corpus_of_evidence_alone_is_refused(oracle_file, memory_that):
    corpus = open_corpus(str(oracle_file), oracle_file.parent, Reading(), "longmemeval")
    memory = memory_that()
    with pytest.raises(CorpusError, match="every session of every haystack is gold") as raised:
        run(corpus, memory)
    assert "longmemeval_s" in raised.value.remedy
    assert memory.pools == []


def test_the_keyword_search_of_the_episodic_memory_is_refused(corpus):
    with pytest.raises(InstrumentError, match="has no embedder and would match keywords") as raised:
        run(corpus, build_memory("episodic", {}, None))
    assert "membench fetch" in raised.value.remedy


def test_a_memory_that_cannot_describe_itself(corpus, memory_that):
    what = broken(corpus, memory_that(describing=failing(OSError("no server"))))
    assert what == "asking the memory to describe itself: OSError: no server"


def test_a_memory_that_cannot_open(corpus, memory_that):
    assert broken(corpus, memory_that(opening=failing(OSError("disk")))) == (
        "opening a store for instance i1: OSError: disk"
    )


def test_a_memory_that_cannot_write(corpus, memory_that):
    memory = memory_that(writing=failing(KeyError("vector")))
    assert broken(corpus, memory) == "writing units p1u1 to p1u4 (answer_1 to undated): KeyError: 'vector'"
    assert memory.closed == 1


def test_a_memory_that_fails_in_mid_run_names_the_query(corpus, memory_that):
    def searching(units, query):
        if query == "q2?":
            raise TimeoutError("5 s")
        return []

    memory = memory_that(searching=searching)
    assert broken(corpus, memory) == "searching for query q2 ('q2?'): TimeoutError: 5 s"
    assert memory.closed == 1


def test_a_memory_that_cannot_close(corpus, memory_that):
    assert broken(corpus, memory_that(closing=failing(OSError("busy")))) == (
        "closing the store for instance i1: OSError: busy"
    )


def test_a_failure_to_close_does_not_hide_what_failed_before(corpus, memory_that):
    memory = memory_that(writing=failing(KeyError("vector")), closing=failing(OSError("busy")))
    assert broken(corpus, memory).endswith("KeyError: 'vector'")


def test_an_error_of_membench_passes_as_it_is(corpus, memory_that):
    error = ModelError("a null vector")
    with pytest.raises(ModelError) as raised:
        run(corpus, memory_that(writing=failing(error)))
    assert raised.value is error


def test_an_interruption_is_no_failure_of_the_memory(corpus, memory_that):
    memory = memory_that(searching=failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run(corpus, memory)
    assert memory.closed == 1


@pytest.mark.parametrize("count", [0, 3, 5])
def test_another_number_of_receipts(count, corpus, memory_that):
    what = broken(corpus, memory_that(writing=lambda units: [Receipt("stored")] * count))
    assert what == f"writing units p1u1 to p1u4 (answer_1 to undated): expected 4 receipts, found {count}"


@pytest.mark.parametrize("receipt", [Receipt("ok"), "stored", None])
def test_something_else_than_receipts(receipt, corpus, memory_that):
    what = broken(corpus, memory_that(writing=lambda units: [Receipt("stored")] * 3 + [receipt]))
    assert "expected a receipt for p1u4 that says one of stored, duplicate, refused, found " in what
    assert what.endswith(repr(receipt))


def test_no_receipts_at_all(corpus, memory_that):
    assert "TypeError" in broken(corpus, memory_that(writing=lambda units: None))


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number(score, corpus, memory_that):
    what = broken(corpus, memory_that(searching=lambda units, query: [Hit(1.0, "p1u1"), Hit(score, "p1u2")]))
    assert what == f"searching for query q1 ('q1?'): a hit has the score {score}, expected a finite number"


@pytest.mark.parametrize("hit", [Hit("0.9", "u1"), Hit(None, "u1"), ("u1", 0.9), "u1", None])
def test_something_else_than_hits(hit, corpus, memory_that):
    what = broken(corpus, memory_that(searching=lambda units, query: [hit]))
    assert what == f"searching for query q1 ('q1?'): expected hits with a score, found {hit!r}"


def test_a_hit_of_nothing(corpus, memory_that):
    what = broken(corpus, memory_that(searching=lambda units, query: [Hit(1.0)]))
    assert what == "searching for query q1 ('q1?'): a hit has neither a unit id nor a text"


def test_no_hits_at_all(corpus, memory_that):
    assert "TypeError" in broken(corpus, memory_that(searching=lambda units, query: None))


def test_receipts_and_hits_may_come_one_by_one_and_scores_from_numpy(corpus, memory_that):
    memory = memory_that(
        writing=lambda units: (Receipt("stored") for _ in units),
        searching=lambda units, query: (Hit(np.float32(0.5), unit.id) for unit in units),
    )
    (result,) = run(corpus, memory)
    assert result.queries[0].turn_observed == 4
    assert all(type(score) is float for _, _, score in result.queries[0].hits)


def test_a_memory_that_finds_nothing_is_measured(corpus, memory_that):
    (result,) = run(corpus, memory_that(searching=lambda units, query: []))
    assert [query.session_ranks for query in result.queries] == [(None,), (None, None)]
    assert [query.session_observed for query in result.queries] == [0, 0]


def test_a_refused_arm_stops_every_arm(corpus, memory_that):
    memory = memory_that()
    with pytest.raises(UsageError):
        measure(corpus, [Arm(memory), Arm(memory_that(), "literal")], None, Silent())
    assert memory.units == []


def test_long_haystacks_are_written_in_parts_that_are_named(corpus_of, document, memory_that):
    session = document["instances"][0]["sessions"][1]
    turn = session["turns"][0]
    session["turns"] = [turn, *({**turn, "id": f"more{n}", "text": f"More {n}."} for n in range(600))]
    sizes = []

    def writing(units):
        sizes.append(len(units))
        return [Receipt("stored")] * (len(units) - (len(sizes) == 2))

    what = broken(corpus_of(document), memory_that(writing=writing))
    assert sizes == [256, 256]
    assert what == "writing units p1u257 to p1u512 (other to other): expected 256 receipts, found 255"
