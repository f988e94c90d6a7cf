"""Writes the sample corpus: `python -m membench.corpora.sample.generate`.

Eighteen stories stand in `stories/`, each in three readings with facts of their own. For each reading the stories are
dealt to three people, so that an instance is one person's six stories, interleaved over half a year. The same seed
gives the same bytes under any Python version. Each instance has a chance of its own, so that an edited story
changes only the three instances that tell it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from membench.corpora.sample.chance import Chance
from membench.corpora.sample.people import PEOPLE, Person
from membench.corpora.sample.rules import check_query
from membench.corpora.sample.stories import Ask, Scene, Story, load_stories
from membench.corpora.sample.wording import Wording

SCHEMA = "membench.corpus/1"
SEED = 20240305
SPAN_DAYS = 185
START_DAYS = 21
SHIFT_DAYS = 21
YEARS = (2023, 2024, 2025)
CATEGORIES = {"single-hop": 1, "multi-hop": 2, "temporal": 3, "knowledge-update": 4, "unanswerable": 5}
OUTPUT = Path(__file__).with_name("sample.json")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Telling:
    """One story as one person tells it."""

    story: Story
    words: Wording


def generate(seed: int = SEED) -> Json:
    """The corpus as a `membench.corpus/1` document; raises CorpusError where a story breaks a rule of `rules`."""
    chance = Chance(seed)
    stories = load_stories()
    lives = [
        (person, reading, hand)
        for reading, people in enumerate(PEOPLE)
        for person, hand in zip(people, deal(chance, stories, len(people)), strict=True)
    ]
    instances = [
        _instance(f"{number:02}", person, reading, hand, Chance(seed + number))
        for number, (person, reading, hand) in enumerate(lives, 1)
    ]
    return {"schema": SCHEMA, "name": "sample", "licence": "CC0-1.0", "instances": instances}


def deal(chance: Chance, stories: Sequence[Story], hands: int) -> list[list[Story]]:
    """``stories`` in ``hands`` equal hands, none of which holds two that contradict each other."""
    while True:
        order = chance.shuffled(stories)
        dealt = [order[start::hands] for start in range(hands)]
        if not any(other.name in story.apart for hand in dealt for story in hand for other in hand):
            return dealt


def _instance(name: str, person: Person, reading: int, hand: Sequence[Story], chance: Chance) -> Json:
    year = chance.choice(YEARS)
    start = datetime(year, 2, 1) + timedelta(days=chance.below(START_DAYS))
    tellings = [_telling(story, person, reading, start, chance) for story in hand]
    meetings = sorted(
        (date, telling.story.name, index)
        for telling in tellings
        for index, date in enumerate(telling.words.dates)
    )  # fmt: skip
    session_ids = {(story, index): f"{name}.s{number:02}" for number, (_, story, index) in enumerate(meetings, 1)}
    by_name = {telling.story.name: telling for telling in tellings}
    sessions = [
        _session(session_ids[story, index], by_name[story], index, person) for _, story, index in meetings
    ]  # fmt: skip
    turns = {turn["id"]: turn["text"] for session in sessions for turn in session["turns"]}
    asks = chance.shuffled([(telling, ask) for telling in tellings for ask in telling.story.asks])
    asked_from = meetings[-1][0]
    queries: list[Json] = []
    for number, (telling, ask) in enumerate(asks, 1):
        query = _query(f"{name}.q{number:02}", telling, ask, session_ids)
        query["asked"] = _moment(asked_from + timedelta(days=1), chance, 8).isoformat()
        check_query(query, turns)
        queries.append(query)
    return {"id": name, "sessions": sessions, "queries": queries}


def _telling(story: Story, person: Person, reading: int, start: datetime, chance: Chance) -> Telling:
    start += timedelta(days=chance.below(SHIFT_DAYS))
    dates = [
        _moment(start + timedelta(days=round(scene.at * SPAN_DAYS) + chance.between(-2, 2)), chance)
        for scene in story.scenes
    ]
    slots = {name: values[reading] for name, values in story.slots.items()}
    return Telling(story, Wording(reading, {**person.names(), **slots}, dates, chance))


def _moment(day: datetime, chance: Chance, within_days: int = 1) -> datetime:
    """A time of day at which people talk, on ``day`` or one of those that follow it."""
    start = day.replace(hour=0, minute=0) + timedelta(days=chance.below(within_days))
    return start + timedelta(hours=chance.between(7, 21), minutes=chance.below(60))


def _session(name: str, telling: Telling, index: int, person: Person) -> Json:
    scene = telling.story.scenes[index]
    turns = [
        {
            "id": f"{name}.t{number:02}",
            "role": line.role,
            "speaker": person.user if line.role == "user" else "Assistant",
            "text": telling.words.say(line.text, index),
        }
        for number, line in enumerate(scene.lines, 1)
    ]
    return {"id": name, "date": telling.words.dates[index].isoformat(), "turns": turns}


def _query(name: str, telling: Telling, ask: Ask, session_ids: dict[tuple[str, int], str]) -> Json:
    places = [_place(telling.story.scenes, label) for label in ask.evidence]
    sessions = [session_ids[telling.story.name, index] for index, _ in places]
    return {
        "id": name,
        "text": telling.words.say(ask.text),
        "category": {"name": ask.category, "number": CATEGORIES[ask.category]},
        "answer": None if ask.answer is None else telling.words.say(ask.answer),
        "gold_turns": [f"{session}.t{turn:02}" for session, (_, turn) in zip(sessions, places, strict=True)],
        "gold_sessions": list(dict.fromkeys(sessions)),
        "asked": "",
        "unanswerable": ask.category == "unanswerable",
    }


def _place(scenes: Sequence[Scene], label: str) -> tuple[int, int]:
    """The index of the session that holds the turn ``label``, and the turn's number in it, from 1."""
    for index, scene in enumerate(scenes):
        for number, line in enumerate(scene.lines, 1):
            if line.label == label:
                return index, number
    raise KeyError(label)


def render(document: Json) -> str:
    """``document`` as JSON text with one line for each turn and each query."""
    head = {key: value for key, value in document.items() if key != "instances"}
    instances = ",\n".join(_render_instance(instance) for instance in document["instances"])
    return f'{_compact(head)[:-1]}, "instances": [\n{instances}\n]}}\n'


def _render_instance(instance: Json) -> str:
    sessions = ",\n".join(
        f'{{"id": {_compact(session["id"])}, "date": {_compact(session["date"])}, "turns": [\n'
        + ",\n".join(map(_compact, session["turns"]))
        + "\n]}"
        for session in instance["sessions"]
    )
    queries = ",\n".join(map(_compact, instance["queries"]))
    return f'{{"id": {_compact(instance["id"])}, "sessions": [\n{sessions}\n], "queries": [\n{queries}\n]}}'


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    OUTPUT.write_text(render(generate()), "utf-8", newline="\n")
