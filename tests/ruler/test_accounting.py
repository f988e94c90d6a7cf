"""The account of an arm: what was written and what became of it, and the gold that stands nowhere, by name."""

from dataclasses import replace

import pytest
from ruled import measure

from membench.embedding.cached import CachedEmbedder
from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory
from membench.memories.protocol import Hit, Receipt
from membench.ruler.accounting import GoldLost
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent

STORED = Receipt("stored")


def account(corpus, memory, **arm):
    (result,) = measure(corpus, [Arm(memory, **arm)], None, Silent())
    return result.accounting


def receipts(*each):
    return lambda units: list(each)


def test_when_everything_is_stored_nothing_is_lost(corpus, memory_that):
    found = account(corpus, memory_that())
    assert (found.attempted, found.written, found.displaced) == (4, 4, 0)
    assert (found.duplicates, found.refused, found.gold_lost) == ({}, {}, [])
    assert (found.searches, found.hits, found.hits_over_limit) == (2, 8, 0)
    assert (found.unattributed_hits, found.repeated_hits) == (0, 0)


def test_duplicates_and_refusals_are_counted_by_reason(corpus, memory_that):
    writing = receipts(Receipt("duplicate", "same"), Receipt("refused"), Receipt("refused", "long"), Receipt("refused"))
    found = account(corpus, memory_that(writing=writing))
    assert (found.attempted, found.written) == (4, 0)
    assert found.duplicates == {"same": 1}
    assert found.refused == {"refused": 2, "long": 1}


def test_lost_gold_is_named_once_with_its_reason(corpus, memory_that):
    writing = receipts(Receipt("duplicate", "same"), STORED, STORED, Receipt("refused"))
    assert account(corpus, memory_that(writing=writing)).gold_lost == [
        GoldLost("i1", "answer_1", "gold-a", "duplicate: same"),
        GoldLost("i1", "undated", "e", "refused"),
    ]


def test_what_is_lost_and_not_gold_is_not_named(corpus, memory_that):
    writing = receipts(STORED, STORED, Receipt("refused", "long"), STORED)
    assert account(corpus, memory_that(writing=writing)).gold_lost == []


def test_displaced_units_were_written_and_are_lost(corpus, memory_that):
    writing = receipts(STORED, STORED, Receipt("stored", displaced=("p1u1",)), STORED)
    found = account(corpus, memory_that(writing=writing))
    assert (found.written, found.displaced) == (4, 1)
    assert found.gold_lost == [GoldLost("i1", "answer_1", "gold-a", "displaced by a later unit of other")]
    assert found.unattributed_hits == 2


def test_a_hit_of_what_was_displaced_is_unknown_by_text_too(corpus, memory_that):
    writing = receipts(STORED, STORED, Receipt("stored", displaced=("p1u1",)), STORED)
    searching = lambda units, query: [Hit(1.0, text="I moved.")]  # noqa: E731
    assert account(corpus, memory_that(writing=writing, searching=searching)).unattributed_hits == 2


def test_gold_that_is_blank_in_the_corpus_is_named(corpus_of, document, memory_that):
    document["instances"][0]["sessions"][2]["turns"][0]["text"] = " "
    assert account(corpus_of(document), memory_that()).gold_lost == [
        GoldLost("i1", "undated", "e", "nothing of it is written: it is blank, or of other roles")
    ]


def test_gold_of_unanswerable_queries_is_not_named(corpus_of, document, memory_that):
    document["instances"][0]["queries"][0]["unanswerable"] = True
    writing = receipts(Receipt("refused"), STORED, STORED, STORED)
    assert account(corpus_of(document), memory_that(writing=writing)).gold_lost == []


def test_a_gold_session_without_gold_turns_is_named_as_a_whole(corpus_of, document, memory_that):
    document["instances"][0]["queries"][1]["gold_turns"] = ["b"]
    writing = receipts(STORED, STORED, STORED, Receipt("refused", "long"))
    assert account(corpus_of(document), memory_that(writing=writing)).gold_lost == [
        GoldLost("i1", "undated", None, "refused: long")
    ]


def test_at_session_granularity_every_gold_turn_of_a_lost_session_is_named(corpus, memory_that):
    found = account(
        corpus, memory_that(writing=receipts(Receipt("refused", "long"), STORED, STORED)), granularity="session"
    )
    assert (found.attempted, found.written) == (3, 2)
    assert found.gold_lost == [
        GoldLost("i1", "answer_1", "gold-a", "refused: long"),
        GoldLost("i1", "answer_1", "b", "refused: long"),
    ]


def test_a_turn_in_several_chunks_is_lost_with_the_last_of_them(corpus, memory_that):
    def all_but(*stored):
        return memory_that(writing=lambda units: [STORED if u.text in stored else Receipt("refused") for u in units])

    chunks = memory_that()
    account(corpus, chunks, granularity="chunk", chunk_size=6)
    assert [unit.text for unit in chunks.units] == ["I", "moved.", "Far.", "I got", "a dog.", "Rex is", "his", "name."]
    found = account(corpus, all_but("I", "Far.", "his"), granularity="chunk", chunk_size=6)
    assert (found.attempted, found.written, found.refused, found.gold_lost) == (8, 3, {"refused": 5}, [])
    found = account(corpus, all_but("Far.", "his"), granularity="chunk", chunk_size=6)
    assert found.gold_lost == [GoldLost("i1", "answer_1", "gold-a", "refused")]


def test_hits_over_the_limit_are_counted_and_not_ranked(corpus, memory_that):
    (result,) = measure(corpus, [Arm(memory_that(), limit=3)], None, Silent())
    assert (result.accounting.hits, result.accounting.hits_over_limit) == (6, 2)
    assert [query.turn_observed for query in result.queries] == [3, 3]
    assert result.queries[1].turn_ranks == (2, None)


def test_unknown_and_repeated_hits_take_no_rank(corpus, memory_that):
    names = ("nobody", "p1u3", "p1u3", "p1u1")
    searching = lambda units, query: [Hit(-float(n), name) for n, name in enumerate(names)]  # noqa: E731
    (result,) = measure(corpus, [Arm(memory_that(searching=searching))], None, Silent())
    assert (result.accounting.unattributed_hits, result.accounting.repeated_hits) == (2, 2)
    assert result.queries[0].turn_ranks == (2,)
    assert result.queries[0].session_ranks == (2,)
    assert [hit[0] for hit in result.queries[0].hits] == ["other", "answer_1"]


def test_sessions_and_turns_rank_by_their_best_fragment(corpus, memory_that):
    names = ("p1u2", "p1u3", "p1u1", "p1u4")
    searching = lambda units, query: [Hit(-float(n), name) for n, name in enumerate(names)]  # noqa: E731
    (result,) = measure(corpus, [Arm(memory_that(searching=searching))], None, Silent())
    first, second = result.queries
    assert (first.session_ranks, first.turn_ranks) == ((1,), (3,))
    assert (second.session_ranks, second.turn_ranks) == ((1, 3), (1, 4))
    assert (second.session_observed, second.turn_observed) == (3, 4)


def test_a_session_granularity_has_no_turn_level(corpus, memory_that):
    (result,) = measure(corpus, [Arm(memory_that(), granularity="session")], None, Silent())
    assert {(query.turn_ranks, query.turn_observed) for query in result.queries} == {(None, None)}
    assert result.queries[1].session_ranks == (1, 3)


def test_only_scorable_queries_are_searched(corpus, memory_that):
    memory = memory_that()
    (result,) = measure(corpus, [Arm(memory)], None, Silent())
    assert [query for query, _, _ in memory.searches] == ["q1?", "q2?"]
    assert [query.id for query in result.queries] == ["q1", "q2"]


def test_every_instance_has_a_store_of_its_own_that_is_closed(corpus_of, document, memory_that):
    first = document["instances"][0]
    queries = [{**query, "id": f"{query['id']}b"} for query in first["queries"]]
    document["instances"].append({**first, "id": "i2", "queries": queries})
    memory = memory_that()
    found = account(corpus_of(document), memory)
    assert memory.pools == ["p1", "p2"]
    assert memory.closed == 2
    assert (found.attempted, found.searches, found.hits) == (8, 4, 16)


@pytest.mark.parametrize("granularity", ["turn", "chunk", "session"])
@pytest.mark.parametrize("options", [{}, {"episodic_max": "50"}, {"max_chars": "200", "dedup_threshold": "0.6"}])
def test_nothing_that_the_episodic_memory_does_goes_uncounted(options, granularity, locomo_corpus):
    memory = build_memory("episodic", options, CachedEmbedder(ToyEmbedder(), None))
    (result,) = measure(locomo_corpus, [Arm(memory, granularity=granularity)], None, Silent())
    found = result.accounting
    assert found.attempted == found.written + found.duplicates.total() + found.refused.total()
    assert (found.unattributed_hits, found.repeated_hits, found.hits_over_limit) == (0, 0, 0)
    assert found.searches == locomo_corpus.survey.scorable == len(result.queries)
    if "episodic_max" in options and granularity == "turn":
        assert found.written - found.displaced == 2 * 50
    lost = {(gold.instance, gold.turn) for gold in found.gold_lost}
    for query in result.queries:
        for turn, rank in zip(query.gold_turns, query.turn_ranks or (), strict=False):
            assert rank is None or (query.id.split(":")[0], turn) not in lost


def test_bm25_refuses_nothing_and_never_finds_gold_without_a_word(corpus_of, document):
    document["instances"][0]["sessions"][0]["turns"][0]["text"] = "?!"
    memory = build_memory("bm25", {}, None)
    (result,) = measure(corpus_of(document), [Arm(memory)], None, Silent())
    assert (result.accounting.refused, result.accounting.gold_lost) == ({}, [])
    assert result.queries[0].turn_ranks == (None,)


def test_one_arm_takes_no_part_in_the_account_of_another(corpus, memory_that):
    alone = measure(corpus, [Arm(memory_that())], None, Silent())[0]
    together = measure(corpus, [Arm(memory_that()), Arm(memory_that(), limit=1)], None, Silent())
    assert together[0].accounting == alone.accounting
    assert together[0].queries == alone.queries
    assert together[1].accounting == replace(alone.accounting, hits=2, hits_over_limit=6)
