"""What the survey says of a corpus beside its counts: its dates, its weights, and instances that hold nothing."""

from datetime import datetime

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.rendering import TextOptions
from membench.corpora.selection import Slice
from membench.corpora.survey import survey
from membench.corpora.types import Category, Instance, Query, Session, Turn


def session(name, date, *texts, repeated=False):
    turns = tuple(Turn(f"{name}:{place}", "user", "Ann", text) for place, text in enumerate(texts))
    return Session(name, date and datetime.fromisoformat(date), turns, repeated)


def instance(name, *sessions, gold=()):
    return Instance(name, sessions, (Query(f"{name}?", "?", Category("single-hop", 1), gold, ()),))


def surveyed(*instances, **options):
    return survey(instances, TextOptions(**options))


def test_the_newest_date_is_of_a_session_with_turns_in_any_instance():
    found = surveyed(
        instance("a", session("s1", "2024-03-05T18:30", "Hi."), session("s2", "2024-01-01", "Hi.")),
        instance("b", session("s1", "2024-02-01", "Hi."), session("s2", "2025-01-01"), session("s3", None, "Hi.")),
    )
    assert found.newest == datetime(2024, 3, 5, 18, 30)


@pytest.mark.parametrize("only", [instance("a"), instance("a", session("s1", None, "Hi."))])
def test_without_a_date_there_is_no_newest(only):
    assert surveyed(only).newest is None


def test_a_weight_is_a_token_for_four_bytes_of_what_is_written():
    one = instance("a", session("s1", None, "Hi.", "é"), session("s2", None, "日本"))
    assert surveyed(one, instance("b")).weights == {"a": 3, "b": 0}
    assert surveyed(one, speakers=True).weights == {"a": 7}


def test_weights_are_of_the_part_and_the_roles_that_are_read(longmemeval_s_file):
    def weights(**reading):
        opened = open_corpus(str(longmemeval_s_file), longmemeval_s_file, Reading(**reading), "longmemeval")
        return opened.survey.weights

    three, user = weights(part=Slice(instances=3)), weights(part=Slice(instances=3), roles="user")
    assert len(three) == 3
    assert three.keys() == user.keys()
    # An instance of S is of about 115,000 tokens.
    assert all(100_000 < three[name] < 140_000 and 0 < user[name] < three[name] for name in three)


def test_an_instance_without_sessions_is_counted_and_its_queries_have_no_gold():
    found = surveyed(instance("a"), instance("b", session("s1", None, "Hi."), gold=("s1",)), instance("c"))
    assert found.quirks.instances_without_sessions == 2
    assert (found.instances, found.scorable, found.without_gold) == (3, 1, 2)
