"""The fingerprint moves with everything in a corpus that can move a score, and with nothing else."""

import gzip
import json
from copy import deepcopy

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.errors import UsageError


def turn(name, text, **more):
    return {"id": name, "role": "user", "speaker": "Ann", "text": text, **more}


def query(name, text, sessions, turns, **more):
    return {
        "id": name,
        "text": text,
        "category": {"name": "single-hop", "number": 1},
        "gold_sessions": sessions,
        "gold_turns": turns,
        "answer": "Oslo",
        "asked": "2024-04-01T10:00:00",
        **more,
    }


NATIVE = {
    "schema": "membench.corpus/1",
    "instances": [
        {
            "id": "i1",
            "sessions": [
                {
                    "id": "s1",
                    "date": "2024-03-05T18:30:00",
                    "turns": [turn("t1", "I moved to Oslo."), turn("t2", "Look!", caption="a red house")],
                },
                {"id": "s2", "date": "2024-03-06T18:30:00", "turns": [turn("t3", "I got a dog."), turn("t4", "Rex.")]},
            ],
            "queries": [
                query("q1", "Where does Ann live?", ["s1"], ["t1"]),
                query("q2", "What is the dog called?", ["s1", "s2"], ["t2", "t4"]),
            ],
        },
        {
            "id": "i2",
            "sessions": [
                {
                    "id": "s1",
                    "date": "2024-03-05T18:30:00",
                    "turns": [turn("t1", "Hello."), turn("t2", "Tea, please.")],
                },
                {"id": "s2", "date": None, "turns": [turn("t3", "Bye.")]},
            ],
            "queries": [query("q3", "What does she drink?", ["s1"], ["t2"])],
        },
    ],
}
FIRST = ("instances", 0)
TURN = (*FIRST, "sessions", 0, "turns", 0)
CAPTIONED = (*FIRST, "sessions", 0, "turns", 1)
QUERY = (*FIRST, "queries", 0)
CAPTIONS = Reading(captions=True)
SPEAKERS = Reading(speakers=True)


def put(path, value):
    def change(document):
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return change


def reverse(*path):
    def change(document):
        inner = document
        for step in path:
            inner = inner[step]
        inner.reverse()

    return change


def renamed(document):
    """Every id of a session and a turn, each to one name wherever it stands."""
    for instance in document["instances"]:
        for session in instance["sessions"]:
            session["id"] = f"answer_{session['id']}"
            for said in session["turns"]:
                said["id"] = f"x{said['id']}"
        for asked in instance["queries"]:
            asked["gold_sessions"] = [f"answer_{name}" for name in asked["gold_sessions"]]
            asked["gold_turns"] = [f"x{name}" for name in asked["gold_turns"]]


def fingerprint(content, tmp_path, reading=None, form="membench"):
    path = tmp_path / "own.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return open_corpus(str(path), tmp_path, reading or Reading(), form).survey.fingerprint


def changed(change):
    document = deepcopy(NATIVE)
    change(document)
    assert document != NATIVE
    return document


MOVES = {
    "a turn's text": (put((*TURN, "text"), "I moved to Bergen."), None),
    "a blank at a turn's end": (put((*TURN, "text"), "I moved to Oslo. "), None),
    "a turn's role": (put((*TURN, "role"), "assistant"), None),
    "the order of turns": (reverse(*FIRST, "sessions", 1, "turns"), None),
    "the order of sessions": (reverse(*FIRST, "sessions"), None),
    "the order of instances": (reverse("instances"), None),
    "the order of queries": (reverse(*FIRST, "queries"), None),
    "a session's date": (put((*FIRST, "sessions", 0, "date"), "2024-03-05T18:31:00"), None),
    "a session's date lost": (put((*FIRST, "sessions", 0, "date"), None), None),
    "a question": (put((*QUERY, "text"), "Where is Ann?"), None),
    "gold turns": (put((*QUERY, "gold_turns"), ["t2"]), None),
    "gold sessions": (put((*QUERY, "gold_sessions"), ["s1", "s2"]), None),
    "a category's name": (put((*QUERY, "category", "name"), "multi-hop"), None),
    "a category's number": (put((*QUERY, "category", "number"), 2), None),
    "a category's number to a label": (put((*QUERY, "category", "number"), "1"), None),
    "the date of asking": (put((*QUERY, "asked"), "2024-04-02T10:00:00"), None),
    "an unanswerable query": (put((*QUERY, "unanswerable"), True), None),
    "a turn in another session": (
        put((*FIRST, "sessions", 0, "turns"), [turn("t1", "I moved to Oslo.")]),
        None,
    ),
    "a caption, with captions": (put((*CAPTIONED, "caption"), "a blue house"), CAPTIONS),
    "a speaker, with speakers": (put((*TURN, "speaker"), "Bob"), SPEAKERS),
}

STAYS = {
    "an answer": (put((*QUERY, "answer"), "Bergen"), None),
    "no answer": (put((*QUERY, "answer"), None), None),
    "a caption, without captions": (put((*CAPTIONED, "caption"), "a blue house"), None),
    "a caption that goes, without captions": (put((*CAPTIONED, "caption"), None), None),
    "a speaker, without speakers": (put((*TURN, "speaker"), "Bob"), None),
    "ids of sessions and turns": (renamed, None),
    "an instance's id": (put((*FIRST, "id"), "other"), None),
    "a query's id": (put((*QUERY, "id"), "other"), None),
    "the order in which gold is named": (reverse(*FIRST, "queries", 1, "gold_turns"), None),
    "gold named twice": (put((*QUERY, "gold_turns"), ["t1", "t1"]), None),
    "the file's name for itself": (put(("name",), "mine"), None),
}


@pytest.mark.parametrize("what", MOVES)
def test_it_moves_with(what, tmp_path):
    change, reading = MOVES[what]
    assert fingerprint(changed(change), tmp_path, reading) != fingerprint(NATIVE, tmp_path, reading)


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_with(what, tmp_path):
    change, reading = STAYS[what]
    assert fingerprint(changed(change), tmp_path, reading) == fingerprint(NATIVE, tmp_path, reading)


@pytest.mark.parametrize(
    "reading",
    [
        Reading(part=Slice(instances=1)),
        Reading(part=Slice(queries=2)),
        Reading(part=Slice(queries=1)),
        CAPTIONS,
        SPEAKERS,
    ],
)
def test_it_moves_with_what_is_read_of_the_corpus(reading, tmp_path):
    assert fingerprint(NATIVE, tmp_path, reading) != fingerprint(NATIVE, tmp_path)


def test_it_moves_with_the_roles_only_where_there_is_another_role(tmp_path):
    user = Reading(roles="user")
    assert fingerprint(NATIVE, tmp_path, user) == fingerprint(NATIVE, tmp_path)
    mixed = changed(put((*TURN, "role"), "assistant"))
    assert fingerprint(mixed, tmp_path, user) != fingerprint(mixed, tmp_path)


def test_it_stays_with_a_slice_that_takes_everything(tmp_path):
    assert fingerprint(NATIVE, tmp_path, Reading(part=Slice(9, 99))) == fingerprint(NATIVE, tmp_path)


def sorted_keys(document):
    return json.dumps(document, sort_keys=True).encode()


def spaced(document):
    return ("\n\n " + json.dumps(document, indent=3) + "\n ").encode()


def escaped(document):
    return json.dumps(document).replace("Oslo", "\\u004fslo").encode()


def packed(document):
    return gzip.compress(json.dumps(document).encode())


@pytest.mark.parametrize("write", [sorted_keys, spaced, escaped, packed])
def test_it_stays_with_another_way_to_write_the_same_json(write, tmp_path):
    assert write(NATIVE) != json.dumps(NATIVE).encode()
    assert fingerprint(write(NATIVE), tmp_path) == fingerprint(NATIVE, tmp_path)


@pytest.fixture(scope="module")
def conversations(locomo_file):
    return json.loads(locomo_file.read_bytes())[:1]


def test_it_stays_with_lines_instead_of_an_array(conversations, locomo_file, tmp_path):
    two = json.loads(locomo_file.read_bytes())[:2]
    lines = "".join(json.dumps(sample) + "\n" for sample in two).encode()
    whole = fingerprint(two, tmp_path, form="locomo")
    assert fingerprint(lines, tmp_path, form="locomo") == whole
    assert fingerprint(gzip.compress(lines), tmp_path, form="locomo") == whole


def test_it_stays_with_what_locomo_has_besides(conversations, tmp_path):
    before = fingerprint(conversations, tmp_path, form="locomo")
    (sample,) = copy = deepcopy(conversations)
    assert sample.pop("event_summary")
    for question in sample["qa"]:
        question.pop("answer", None)
        question.pop("adversarial_answer", None)
    pictured = [said for key, value in sample["conversation"].items() if isinstance(value, list) for said in value]
    assert [said.pop("img_url") for said in pictured if "img_url" in said]
    assert fingerprint(copy, tmp_path, form="locomo") == before


def test_it_moves_with_the_gold_reading_of_locomo(locomo_file):
    def found(**reading):
        return open_corpus(str(locomo_file), locomo_file.parent, Reading(**reading), "locomo").survey.fingerprint

    assert found(gold="repaired") != found()
    assert found(captions=False) != found()
    assert found(speakers=False) != found()
    with pytest.raises(UsageError, match="both are users"):
        found(roles="user")
