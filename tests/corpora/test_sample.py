"""The sample corpus: the committed file is the generator's, and it is what a corpus of this kind has to be."""

import json
import random
import re
from collections import Counter
from datetime import datetime
from itertools import pairwise

import pytest

from membench.corpora.sample.chance import Chance
from membench.corpora.sample.generate import CATEGORIES, OUTPUT, deal, generate, render
from membench.corpora.sample.people import PEOPLE
from membench.corpora.sample.rules import SMALL_WORDS, check_query, copies, words
from membench.corpora.sample.stories import READINGS, load_stories, parse_story
from membench.corpora.sample.wording import READING, Wording
from membench.errors import CorpusError

COMMITTED = OUTPUT.read_text("utf-8")
INSTANCES = json.loads(COMMITTED)["instances"]
STORIES = load_stories()


def turns_of(instance):
    return [turn for session in instance["sessions"] for turn in session["turns"]]


def texts_of(instance):
    return {turn["id"]: turn["text"] for turn in turns_of(instance)}


def queries():
    return [(instance, query) for instance in INSTANCES for query in instance["queries"]]


def test_the_committed_file_is_what_the_generator_writes():
    assert render(generate()) == COMMITTED


def test_it_is_readable_and_small():
    assert len(COMMITTED.encode()) < 900_000
    assert max(map(len, COMMITTED.splitlines())) < 1_700
    assert COMMITTED.endswith("]}\n")


def test_its_head():
    document = json.loads(COMMITTED)
    assert {key: document[key] for key in document if key != "instances"} == {
        "schema": "membench.corpus/1",
        "name": "sample",
        "licence": "CC0-1.0",
    }


def test_it_is_large_enough():
    assert len(INSTANCES) >= 8
    assert sum(len(instance["sessions"]) for instance in INSTANCES) >= 150
    assert sum(len(turns_of(instance)) for instance in INSTANCES) >= 1_500
    assert len(queries()) >= 200


def test_every_category_is_asked_in_every_instance():
    for instance in INSTANCES:
        asked = Counter(query["category"]["name"] for query in instance["queries"])
        assert min(asked[name] for name in CATEGORIES) >= 3
    assert {(q["category"]["name"], q["category"]["number"]) for _, q in queries()} == set(CATEGORIES.items())


def test_ids_are_unique_and_say_nothing():
    sessions = [session["id"] for instance in INSTANCES for session in instance["sessions"]]
    turns = [turn["id"] for instance in INSTANCES for turn in turns_of(instance)]
    asked = [query["id"] for _, query in queries()]
    every = [*(instance["id"] for instance in INSTANCES), *sessions, *turns, *asked]
    assert len(set(every)) == len(every)
    assert all(set(name) <= set("0123456789.stq") for name in every)


def test_sessions_are_in_the_order_of_their_dates_and_span_months():
    for instance in INSTANCES:
        dates = [datetime.fromisoformat(session["date"]) for session in instance["sessions"]]
        assert all(earlier < later for earlier, later in pairwise(dates))
        assert (dates[-1] - dates[0]).days > 120
        assert all(datetime.fromisoformat(query["asked"]) > dates[-1] for query in instance["queries"])


def test_each_session_is_a_conversation():
    for instance in INSTANCES:
        users = {turn["speaker"] for turn in turns_of(instance) if turn["role"] == "user"}
        assert len(users) == 1
        for session in instance["sessions"]:
            assert {turn["role"] for turn in session["turns"]} == {"user", "assistant"}
            assert all(first["role"] != second["role"] for first, second in pairwise(session["turns"]))


def test_turns_have_natural_lengths_and_openings_of_their_own():
    for instance in INSTANCES:
        texts = [turn["text"] for turn in turns_of(instance)]
        assert all(10 <= len(text) <= 1_500 for text in texts)
        assert sum(len(text) < 60 for text in texts) > 20
        assert sum(len(re.findall(r"[.!?](?: |$)", text)) >= 3 for text in texts) > 10
        assert len({text[:80].lower() for text in texts}) == len(texts)


def test_no_template_shows_through():
    for instance in INSTANCES:
        said = [turn["text"] for turn in turns_of(instance)]
        asked = [part for query in instance["queries"] for part in (query["text"], query["answer"] or "")]
        for text in [*said, *asked]:
            assert not set(text) & set("{}<>[]|")
            assert text == text.strip()
            assert not any(fault in text for fault in ("  ", " .", " ,", "..", ".,"))


def test_gold_exists_in_the_order_of_the_conversation():
    for instance, query in queries():
        place = {turn["id"]: number for number, turn in enumerate(turns_of(instance))}
        home = {turn["id"]: session["id"] for session in instance["sessions"] for turn in session["turns"]}
        order = [place[turn] for turn in query["gold_turns"]]
        assert order == sorted(set(order))
        assert list(dict.fromkeys(home[turn] for turn in query["gold_turns"])) == query["gold_sessions"]


def test_each_category_has_the_evidence_that_its_name_promises():
    low_high = {"single-hop": (1, 1), "multi-hop": (2, 4), "temporal": (1, 2), "knowledge-update": (1, 1)}
    for _, query in queries():
        low, high = low_high.get(query["category"]["name"], (0, 0))
        assert low <= len(query["gold_sessions"]) <= high
        assert query["unanswerable"] == (query["category"]["name"] == "unanswerable") == (query["answer"] is None)
        assert query["unanswerable"] == (not query["gold_turns"])


def test_answers_stand_in_their_gold():
    for instance, query in queries():
        gold = [set(words(texts_of(instance)[turn])) for turn in query["gold_turns"]]
        key = {word for word in words(query["answer"] or "") if word not in SMALL_WORDS}
        assert key <= set().union(*gold)
        assert all(key & said for said in gold)


def test_questions_do_not_copy_their_gold():
    for instance, query in queries():
        assert not any(copies(query["text"], texts_of(instance)[turn]) for turn in query["gold_turns"])


def test_what_an_update_replaces_was_said_in_an_earlier_session():
    updates = [(story, ask) for story in STORIES for ask in story.asks if ask.category == "knowledge-update"]
    assert len(updates) >= len(STORIES)
    for story, ask in updates:
        place = {line.label: number for number, scene in enumerate(story.scenes) for line in scene.lines if line.label}
        assert place[ask.superseded] < place[ask.evidence[0]]


@pytest.mark.parametrize("reading", range(READINGS))
def test_an_earlier_statement_does_not_hold_the_present_answer(reading):
    for story in STORIES:
        said = {line.label: line.text for scene in story.scenes for line in scene.lines if line.label}
        slots = {name: values[reading] for name, values in story.slots.items()}
        person = PEOPLE[reading][0].names()
        wording = Wording(reading, person | slots, [datetime(2024, 2, 1 + n) for n in range(4)], Chance(1))
        for ask in story.asks:
            if ask.superseded:
                answer = set(words(wording.say(ask.answer or ""))) - SMALL_WORDS
                assert answer - set(words(wording.say(said[ask.superseded], 0)))


def test_the_readings_of_a_story_differ_and_each_has_its_own_words():
    for story in STORIES:
        for line in (line for scene in story.scenes for line in scene.lines):
            assert all(len(choice.split("|")) == READINGS for choice in READING.findall(line.text))


def test_labels_are_used_once_and_named_by_a_query_or_none():
    for story in STORIES:
        labels = [line.label for scene in story.scenes for line in scene.lines if line.label]
        assert len(set(labels)) == len(labels)
        assert {label for ask in story.asks for label in (*ask.evidence, ask.superseded) if label} <= set(labels)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_rules_hold_for_any_seed(seed):
    assert len(generate(seed)["instances"]) == len(INSTANCES)


def test_stories_that_contradict_each_other_never_meet():
    assert any(story.apart for story in STORIES)
    assert {name for story in STORIES for name in story.apart} <= {story.name for story in STORIES}
    for seed in range(50):
        hands = deal(Chance(seed), STORIES, 3)
        assert sorted(story.name for hand in hands for story in hand) == [story.name for story in STORIES]
        assert all(story.apart.isdisjoint(other.name for other in hand) for hand in hands for story in hand)


def test_chance_is_built_on_the_sequence_that_python_promises():
    assert [Chance(7).below(1_000)] == [int(random.Random(7).random() * 1_000)]
    assert sorted(Chance(7).shuffled(range(9))) == list(range(9))


def test_a_date_in_a_query_must_name_its_session():
    wording = Wording(0, {}, [datetime(2024, 2, 20)], Chance(1))
    assert wording.say("{d+12}", 0) == wording.say("{d1+12}") == "3 March"
    with pytest.raises(ValueError, match="must name one"):
        wording.say("{d+12}")


@pytest.mark.parametrize("text", ["dog: Pepper | Olive\n", "== 0.1\nX: hello\n", "== 0.1\nno colon here\n"])
def test_a_story_that_cannot_be_read_is_refused(text):
    with pytest.raises(CorpusError, match="story broken"):
        parse_story("broken", text)


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        ("Where is it?", "Paris", "'paris' stands in no gold turn"),
        ("Where is it?", "", "no answer"),
        ("Is it true that the key is under the mat?", "Under the mat", "copies 6 words"),
    ],
)
def test_a_query_that_breaks_a_rule_is_refused(question, answer, fault):
    query = {
        "id": "q",
        "text": question,
        "category": {"name": "single-hop"},
        "answer": answer,
        "gold_turns": ["t"],
        "gold_sessions": ["s"],
        "unanswerable": False,
    }
    with pytest.raises(CorpusError, match=fault):
        check_query(query, {"t": "You know that the key is under the mat."})
