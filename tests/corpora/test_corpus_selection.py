"""Head slices, whose turns are used, and how a turn becomes text."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.rendering import TextOptions, transcript, turn_text
from membench.corpora.selection import WHOLE, Slice, head, of_roles
from membench.corpora.types import Category, Instance, Query, Session, Turn

PLAIN = TextOptions()
FULL = TextOptions(captions=True, speakers=True)


def instance(name, queries):
    category = Category("single-hop", 1)
    turns = (Turn(f"{name}t1", "user", "Ann", "I moved."), Turn(f"{name}t2", "assistant", "Bot", "Where to?"))
    asked = [Query(f"{name}q{n}", "?", category, (f"{name}s",), (f"{name}t1", f"{name}t2")) for n in range(queries)]
    return Instance(name, (Session(f"{name}s", None, turns),), tuple(asked))


def test_the_whole_is_everything():
    every = [instance("a", 2), instance("b", 0)]
    assert list(head(every, WHOLE)) == every


def test_a_slice_of_instances():
    every = [instance("a", 2), instance("b", 0), instance("c", 1)]
    assert list(head(every, Slice(instances=2))) == every[:2]


def test_a_slice_of_queries_leaves_out_haystacks_that_none_is_asked_of():
    every = [instance("a", 2), instance("b", 0), instance("c", 3), instance("d", 1)]
    kept = list(head(every, Slice(queries=3)))
    assert [one.id for one in kept] == ["a", "c"]
    assert [len(one.queries) for one in kept] == [2, 1]
    assert kept[1].queries == every[2].queries[:1]
    assert kept[1].sessions == every[2].sessions


def test_a_slice_reads_no_further_than_it_must():
    def endless():
        yield instance("a", 2)
        raise AssertionError("read on")

    assert [one.id for one in head(endless(), Slice(queries=2))] == ["a"]
    assert [one.id for one in head(endless(), Slice(instances=1))] == ["a"]


@given(
    st.lists(st.integers(0, 4), max_size=6),
    st.none() | st.integers(0, 7),
    st.none() | st.integers(0, 20),
)
def test_a_slice_is_the_head_of_the_instances_and_of_their_queries(sizes, instances, queries):
    every = [instance(str(place), size) for place, size in enumerate(sizes)]
    kept = list(head(every, Slice(instances, queries)))
    asked = [query for one in every[:instances] for query in one.queries][:queries]
    assert [query for one in kept for query in one.queries] == asked
    assert [one.id for one in kept] == [one.id for one in every if one.id in {kept_one.id for kept_one in kept}]
    assert all(one.queries for one in kept) or queries is None


def test_of_all_roles_nothing_changes():
    one = instance("a", 1)
    assert of_roles(one, "all") == one


def test_of_the_user_alone_other_turns_go_and_are_no_longer_gold():
    one = of_roles(instance("a", 1), "user")
    assert [turn.role for turn in one.sessions[0].turns] == ["user"]
    assert one.queries[0].gold_turns == ("at1",)
    assert one.queries[0].gold_sessions == ("as",)


def test_of_the_user_alone_a_session_without_one_stays_empty():
    one = instance("a", 1)
    silent = replace(one.sessions[0], turns=one.sessions[0].turns[1:])
    kept = of_roles(replace(one, sessions=(silent,)), "user")
    assert kept.sessions == (replace(silent, turns=()),)
    assert kept.queries[0].gold_turns == ()


def test_the_roles_of_longmemeval(longmemeval_s_file):
    part = Slice(instances=3)
    every, user = (
        list(open_corpus(str(longmemeval_s_file), longmemeval_s_file, reading, "longmemeval").instances())
        for reading in (Reading(part=part), Reading(part=part, roles="user"))
    )
    for one, other in zip(every, user, strict=True):
        assert [session.id for session in one.sessions] == [session.id for session in other.sessions]
        spoken = [turn for session in one.sessions for turn in session.turns if turn.role == "user"]
        assert [turn for session in other.sessions for turn in session.turns] == spoken
        assert len(spoken) < sum(len(session.turns) for session in one.sessions)


@pytest.mark.parametrize(
    ("turn", "options", "expected"),
    [
        (Turn("t", "user", "Ann", " Hi. ", "a dog"), PLAIN, " Hi. "),
        (Turn("t", "user", "Ann", " Hi. ", "a dog"), TextOptions(captions=True), " Hi.  [shared image: a dog]"),
        (Turn("t", "user", "Ann", " Hi. ", "a dog"), TextOptions(speakers=True), "Ann:  Hi. "),
        (Turn("t", "user", "Ann", "Hi.", "a dog"), FULL, "Ann: Hi. [shared image: a dog]"),
        (Turn("t", "user", "Ann", "Hi.", ""), FULL, "Ann: Hi."),
        (Turn("t", "user", "Ann", " ", None), FULL, " "),
        (Turn("t", "user", "Ann", "", "a dog"), FULL, "Ann:  [shared image: a dog]"),
    ],
)
def test_the_text_of_a_turn(turn, options, expected):
    assert turn_text(turn, options) == expected


def test_a_transcript_has_a_line_a_turn_and_none_for_a_blank_one():
    turns = [Turn("1", "user", "Ann", " Hi. "), Turn("2", "user", "Bob", " \n"), Turn("3", "user", "Bob", "Bye.")]
    assert transcript(turns, PLAIN) == "Hi.\nBye."
    assert transcript(turns, FULL) == "Ann:  Hi.\nBob: Bye."
    assert transcript(turns[1:2], FULL) == ""


def test_62_turns_of_locomo_have_blanks_at_their_ends_as_written_and_keep_them(locomo_file):
    corpus = open_corpus(str(locomo_file), locomo_file.parent, Reading(), "locomo")
    instances = list(corpus.instances())
    written = {
        (one.id, turn.id): turn_text(turn, corpus.text)
        for one in instances
        for session in one.sessions
        for turn in session.turns
    }
    blank_ended = {name for name, text in written.items() if text != text.strip()}
    gold = {(one.id, turn) for one in instances for query in one.queries for turn in query.gold_turns}
    assert len(blank_ended) == 62
    assert len(blank_ended & gold) == 9


def test_locomo_has_the_captions_that_facts_counts(locomo_file):
    corpus = open_corpus(str(locomo_file), locomo_file.parent, Reading(), "locomo")
    turns = [turn for one in corpus.instances() for session in one.sessions for turn in session.turns]
    captioned = [turn for turn in turns if turn.caption is not None]
    assert len(captioned) == 1_226
    assert all(f"[shared image: {turn.caption}]" in turn_text(turn, corpus.text) for turn in captioned)
