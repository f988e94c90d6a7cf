"""Shards: each instance in one of them, the same one on every machine, with as many real tokens for each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.corpora.shards import Shard, assign, parse_shard
from membench.embedding.catalog import DEFAULT_MODEL
from membench.embedding.llama import LlamaEmbedder
from membench.errors import UsageError

# An id may be any string that JSON can hold, half a surrogate pair among them.
WEIGHTS = st.dictionaries(st.text(st.characters(), max_size=4), st.integers(0, 1000), min_size=1, max_size=30)


@st.composite
def dealt(draw):
    weights = draw(WEIGHTS)
    return weights, draw(st.integers(1, len(weights)))


@pytest.mark.parametrize(("text", "shard"), [("1/1", Shard(1, 1)), ("2/4", Shard(2, 4)), ("10/10", Shard(10, 10))])
def test_a_shard_is_read(text, shard):
    assert parse_shard(text) == shard


NO_SHARDS = ["5/4", "0/4", "1/0", "0/0", "-1/4", "2/-4", "+2/4", "02/4", "1.0/2", "a/b", "٢/٤", f"1/{'9' * 5000}"]
UNFINISHED = ["", "2", "/", "2/", "/4", "2/4/6", "2 / 4", " 2/4", "2/4\n"]


@pytest.mark.parametrize("text", NO_SHARDS + UNFINISHED)
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(UsageError) as raised:
        parse_shard(text)
    assert raised.value.what == f"--shard {text}: expected I/N, the I-th of N shards, with I from 1 to N."


@given(dealt())
def test_every_instance_is_in_one_shard_and_no_shard_is_empty(case):
    weights, of = case
    shards = assign(weights, of)
    assert shards.keys() == weights.keys()
    assert set(shards.values()) == set(range(1, of + 1))


@given(dealt(), st.randoms(use_true_random=False))
def test_the_order_of_the_instances_changes_nothing(case, chance):
    weights, of = case
    other = list(weights.items())
    chance.shuffle(other)
    assert assign(dict(other), of) == assign(weights, of)


@given(dealt())
def test_two_shards_differ_by_no_more_than_the_heaviest_instance(case):
    weights, of = case
    shards = assign(weights, of)
    loads = [sum(weights[name] for name in weights if shards[name] == number) for number in range(1, of + 1)]
    assert max(loads) - min(loads) <= max(weights.values())


def test_shards_are_the_same_everywhere():
    """Written out, as runs on several machines must agree on them, and a merge on what they agreed on."""
    weights = {"q1": 9, "q2": 5, "q3": 5, "q4": 4, "é": 0, "": 0, "q\ud83d": 0}
    assert assign(weights, 1) == dict.fromkeys(weights, 1)
    assert assign(weights, 2) == {"q1": 1, "q2": 2, "q3": 2, "q4": 1, "é": 2, "": 2, "q\ud83d": 2}


def test_fewer_instances_than_shards_are_refused():
    with pytest.raises(UsageError) as raised:
        assign({"q1": 5, "q2": 5}, 3)
    assert raised.value.what == "3 shards of 2 instances: expected an instance for each shard at least."
    assert raised.value.remedy == "Ask for 2 shards at most, or for more instances."


def test_shards_of_longmemeval_are_even_in_the_tokens_of_the_default_model(longmemeval_s_file, default_model):
    """The weights are estimates without a model; within 3 % of the mean is even enough for a night's jobs."""
    reading = Reading(part=Slice(instances=24))
    corpus = open_corpus(str(longmemeval_s_file), longmemeval_s_file.parent, reading, "longmemeval")
    with LlamaEmbedder(default_model, key=DEFAULT_MODEL, sha256="", workers=1) as llama:
        tokens = {
            instance.id: sum(len(llama.tokens(turn.text)) for session in instance.sessions for turn in session.turns)
            for instance in corpus.instances()
        }
    assert corpus.survey.weights.keys() == tokens.keys()
    for of in (2, 3, 4, 8):
        shards = assign(corpus.survey.weights, of)
        loads = [sum(tokens[name] for name in tokens if shards[name] == number) for number in range(1, of + 1)]
        assert loads == pytest.approx([sum(loads) / of] * of, rel=0.03)
