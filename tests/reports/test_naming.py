"""Arm names: what differs from its default is in them, what does not is not, and any file system takes them."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membench.corpora.corpus import Corpus, Reading, open_corpus
from membench.corpora.rendering import TextOptions
from membench.corpora.selection import Slice
from membench.embedding.catalog import DEFAULT_MODEL
from membench.embedding.choice import EmbedderChoice
from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory
from membench.memories.protocol import Description
from membench.reports.naming import arm_name
from membench.ruler.arm import Arm

DEFAULT_IDENTITY = replace(
    ToyEmbedder().identity, kind="llama.cpp", key=DEFAULT_MODEL, input_window=512, model_window=512
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return open_corpus("sample", tmp_path_factory.mktemp("cache"), Reading())


def described(name: str = "episodic", **options: str) -> Description:
    return build_memory(name, options, ToyEmbedder()).describe()


def named(corpus: Corpus, memory: Description | None = None, identity=DEFAULT_IDENTITY, choice=None, **arm) -> str:
    made = Arm(memory=build_memory("bm25", {}, None), **arm)
    return arm_name(corpus, made, memory or described(), identity, choice or EmbedderChoice())


def test_the_default_arm_is_its_timeline(sample):
    assert named(sample) == "now"
    assert named(sample, timeline="anchored") == "anchored"
    assert named(sample, timeline="now", as_of=datetime(2024, 1, 31), chunk_size=7) == "now"


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ({"timeline": "literal", "as_of": datetime(2024, 1, 31, 18, 30)}, "literal.2024-01-31T183000"),
        ({"granularity": "session"}, "now.session"),
        ({"granularity": "chunk"}, "now.chunk"),
        ({"granularity": "chunk", "chunk_size": 500}, "now.chunk.size-500"),
        ({"limit": 50}, "now.limit-50"),
        ({"cut_offs": (1, 5)}, "now.at-1-5"),
    ],
)
def test_settings_of_the_ruler_are_named(arm, expected, sample):
    assert named(sample, **arm) == expected


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading(part=Slice(instances=2)), "now.instances-2"),
        (Reading(part=Slice(queries=9)), "now.queries-9"),
        (Reading(part=Slice(2, 9)), "now.instances-2.queries-9"),
        (Reading(gold="repaired"), "now.repaired"),
        (Reading(roles="user"), "now.roles-user"),
    ],
)
def test_the_reading_of_the_corpus_is_named(reading, expected, sample):
    assert named(replace(sample, reading=reading)) == expected


def test_captions_and_speakers_are_named_where_they_are_not_the_formats_own(sample):
    assert named(replace(sample, text=TextOptions(captions=True, speakers=True))) == "now.captions-on.speakers-on"
    locomo = replace(sample, format="locomo", text=TextOptions(captions=True, speakers=True))
    assert named(locomo) == "now"
    assert named(replace(locomo, text=TextOptions(captions=False, speakers=True))) == "now.captions-off"


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("decay_rate", "0", "decay_rate-0"),
        ("decay_rate", "0.03", None),
        ("score_decimals", "none", "score_decimals-none"),
        ("mmr", "off", "mmr-off"),
        ("mmr_lambda", "0.9", "mmr_lambda-0_9"),
        ("dedup", "off", "dedup-off"),
        ("dedup_threshold", "-0.5", "dedup_threshold--0_5"),
        ("min_chars", "0", "min_chars-0"),
        ("max_chars", "none", "max_chars-none"),
        ("episodic_max", "500", "episodic_max-500"),
        ("candidates", "200", "candidates-200"),
        ("backend", "cosine", "backend-cosine.dedup-off"),
        ("backend", "faiss", None),
    ],
)
def test_options_of_the_memory_are_named(option, value, expected, sample):
    assert named(sample, described(**{option: value})) == ".".join(filter(None, ["now", expected]))


def test_another_memory_is_named_with_its_own_options(sample):
    assert named(sample, described("bm25"), identity=None) == "now.bm25"
    assert named(sample, described("bm25", k1="2"), identity=None) == "now.bm25.k1-2"


def test_a_memory_of_someone_elses_has_all_its_settings_named(sample):
    theirs = Description("my/memory", "1", "its own", {"top k": 5, "path": "../../etc/passwd"})
    assert named(sample, theirs, identity=None) == "now.my_memory.path-_etc_passwd.top_k-5"


def test_the_embedder_is_named_where_it_is_not_the_default(sample):
    assert named(sample, identity=ToyEmbedder().identity) == "now.toy"
    assert named(sample, identity=replace(DEFAULT_IDENTITY, input_window=256)) == "now.window-256"
    assert named(sample, choice=EmbedderChoice(pooling="mean", query_prompt="")) == "now"
    assert named(sample, choice=EmbedderChoice(pooling="last")) == "now.pooling-last"
    one, other = (named(sample, choice=EmbedderChoice(query_prompt=prompt)) for prompt in ("query: ", "question: "))
    assert re.fullmatch(r"now\.query_prompt-[0-9a-f]{8}", one)
    assert one != other


def test_the_name_is_the_same_in_whatever_order_the_options_come(sample):
    assert named(sample, described(mmr="off", dedup="off")) == named(sample, described(dedup="off", mmr="off"))


@given(
    name=st.text(min_size=1, max_size=300),
    settings_=st.dictionaries(st.text(min_size=1, max_size=40), st.text(max_size=80) | st.integers(), max_size=8),
    key=st.text(min_size=1, max_size=300),
)
@settings(max_examples=60, deadline=None)
def test_any_name_is_one_short_file_name(name, settings_, key, sample):
    memory = Description(name, "1", "its own", settings_)
    made = named(sample, memory, identity=replace(DEFAULT_IDENTITY, key=key))
    assert re.fullmatch(r"now(\.[A-Za-z0-9_-]+)*", made)
    assert len(f"longmemeval_oracle.{made}.rankings.jsonl.gz") <= 255


def test_a_name_that_is_cut_still_tells_two_arms_apart(sample, tmp_path: Path):
    settings_ = {f"a_long_name_of_option_{number}": number for number in range(12)}
    one = named(sample, Description("mine", "1", "its own", settings_))
    other = named(sample, Description("mine", "1", "its own", {**settings_, "a_long_name_of_option_11": 12}))
    assert one != other
    assert len(one) == len(other) == 180
    (tmp_path / f"locomo10.{one}.rankings.jsonl.gz").write_bytes(b"")
