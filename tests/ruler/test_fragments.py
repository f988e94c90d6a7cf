"""What is written: turns, chunks or sessions, all of what was said and nothing of what is sought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.rendering import TextOptions, transcript, turn_text
from membench.corpora.types import Instance, Session, Turn
from membench.ruler.fragments import GRANULARITIES, fragments

PLAIN = TextOptions()


def instance_of(*sessions):
    made = []
    for place, texts in enumerate(sessions):
        turns = (Turn(f"{place}.{number}", "user", "Ann", text) for number, text in enumerate(texts))
        made.append(Session(f"answer_{place}", None, tuple(turns)))
    return Instance("i", tuple(made), ())


def made(instance, granularity, size=20, text=PLAIN):
    return fragments(instance, granularity, size, text, "now", "p1")


def shown(fragment):
    return fragment.unit.text, fragment.turns


def test_a_turn_is_written_as_it_is_and_a_blank_one_is_not():
    found = made(instance_of([" Hi. ", "  ", "Bye."]), "turn")
    assert [shown(one) for one in found] == [(" Hi. ", ("0.0",)), ("Bye.", ("0.2",))]


def test_a_session_is_its_transcript_and_an_empty_one_is_not_written():
    found = made(instance_of([" Hi. ", "  ", "Bye."], [], [" "], ["So."]), "session")
    assert [shown(one) for one in found] == [("Hi.\nBye.", ("0.0", "0.2")), ("So.", ("3.0",))]
    assert [one.unit.session for one in found] == ["p1s1", "p1s4"]


def test_a_chunk_is_as_many_whole_turns_as_fit():
    found = made(instance_of(["a" * 9, "b" * 10, "c", "d" * 20, "e"], ["f"]), "chunk", 20)
    assert [shown(one) for one in found] == [
        ("a" * 9 + "\n" + "b" * 10, ("0.0", "0.1")),
        ("c", ("0.2",)),
        ("d" * 20, ("0.3",)),
        ("e", ("0.4",)),
        ("f", ("1.0",)),
    ]


def test_a_turn_longer_than_a_chunk_is_cut_at_blanks_into_pieces_of_its_own():
    found = made(instance_of(["so", "one two three four five six", "end"]), "chunk", 10)
    assert [shown(one) for one in found] == [
        ("so", ("0.0",)),
        ("one two", ("0.1",)),
        ("three four", ("0.1",)),
        ("five six", ("0.1",)),
        ("end", ("0.2",)),
    ]


def test_a_word_longer_than_a_chunk_is_cut_where_the_chunk_ends():
    found = made(instance_of(["x" * 25]), "chunk", 10)
    assert [one.unit.text for one in found] == ["x" * 10, "x" * 10, "x" * 5]


TEXTS = st.text(st.sampled_from("ab \n.é"), max_size=40)


@given(st.lists(st.lists(TEXTS, max_size=6), max_size=4), st.integers(1, 30))
def test_chunks_hold_every_turn_that_is_not_blank_once_and_in_order(sessions, size):
    instance = instance_of(*sessions)
    found = made(instance, "chunk", size)
    assert all(len(one.unit.text) <= size and one.unit.text.strip() for one in found)
    for session in instance.sessions:
        own = [one for one in found if one.session == session.id]
        said = "".join("".join(turn.text.split()) for turn in session.turns)
        assert "".join("".join(one.unit.text.split()) for one in own) == said
        spoken = [turn.id for turn in session.turns if turn.text.strip()]
        assert list(dict.fromkeys(turn for one in own for turn in one.turns)) == spoken
        for turn in session.turns:
            holders = [one for one in own if turn.id in one.turns]
            assert len(holders) <= 1 or all(one.turns == (turn.id,) for one in holders)
            assert len(holders) == 1 or not turn.text.strip() or len(turn.text.strip()) > size


@given(st.lists(st.lists(TEXTS, max_size=6), max_size=4))
def test_turns_and_sessions_hold_every_turn_that_is_not_blank_once(sessions):
    instance = instance_of(*sessions)
    spoken = [turn.id for session in instance.sessions for turn in session.turns if turn.text.strip()]
    for granularity in ("turn", "session"):
        assert [turn for one in made(instance, granularity) for turn in one.turns] == spoken


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_ids_number_what_is_written_in_its_order(granularity):
    found = made(instance_of(["a", " ", "b"], [], ["c"]), granularity)
    assert [one.unit.id for one in found] == [f"p1u{number}" for number in range(1, len(found) + 1)]
    assert [one.unit.session for one in found][-1] == "p1s3"


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_nothing_of_the_corpus_but_the_text_and_the_date_reaches_a_memory(granularity, oracle_file):
    corpus = open_corpus(str(oracle_file), oracle_file.parent, Reading(), "longmemeval")
    for _, instance in zip(range(30), corpus.instances(), strict=False):
        for one in fragments(instance, granularity, 1_000, corpus.text, "anchored", "p1"):
            assert one.session.startswith("answer_")
            assert one.unit.id[:3] == "p1u"
            assert one.unit.id[3:].isdecimal()
            assert one.unit.session[:3] == "p1s"
            assert one.unit.session[3:].isdecimal()
            said = [turn for session in instance.sessions if session.id == one.session for turn in session.turns]
            assert "".join(one.unit.text.split()) in "".join("".join(turn.text.split()) for turn in said)


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_what_is_written_tells_nothing_of_the_gold(granularity, locomo_file):
    corpus = open_corpus(str(locomo_file), locomo_file.parent, Reading(), "locomo")
    instance = next(corpus.instances())
    without = Instance(instance.id, instance.sessions, ())
    units = [
        [one.unit for one in fragments(each, granularity, 1_000, corpus.text, "now", "p1")]
        for each in (instance, without)
    ]
    assert units[0] == units[1]


def test_chunks_of_locomo_are_whole_turns(locomo_file):
    corpus = open_corpus(str(locomo_file), locomo_file.parent, Reading(), "locomo")
    for instance in corpus.instances():
        texts = {turn.id: turn for session in instance.sessions for turn in session.turns}
        for one in fragments(instance, "chunk", 1_000, corpus.text, "now", "p1"):
            whole = transcript([texts[turn] for turn in one.turns], corpus.text)
            assert one.unit.text == whole or len(turn_text(texts[one.turns[0]], corpus.text)) > 1_000
