"""What is wrong with a corpus is a CorpusError that names the file and, where there is one, the instance and the field;
what was asked wrongly is a UsageError."""

import gzip
import json
import random
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membench.corpora.corpus import FORMATS, Reading, open_corpus
from membench.corpora.selection import Slice
from membench.errors import CorpusError, MembenchError, UsageError

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Oslo."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Oslo is cold."},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "I got a dog."}],
            "session_2_date_time": "1:14 pm on 25 May, 2023",
        },
        "qa": [{"question": "Where did Ann move?", "answer": "Oslo", "evidence": ["D1:1"], "category": 4}],
    }
]
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Where do I live?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "Oslo",
        "answer_session_ids": ["answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_session_ids": ["answer_1", "other"],
        "haystack_sessions": [
            [{"role": "user", "content": "I moved to Oslo.", "has_answer": True}],
            [{"role": "user", "content": "I got a dog."}, {"role": "assistant", "content": "Nice."}],
        ],
    }
]
NATIVE = {
    "schema": "membench.corpus/1",
    "instances": [
        {
            "id": "i1",
            "sessions": [
                {
                    "id": "s1",
                    "date": "2024-03-05T18:30:00",
                    "turns": [
                        {"id": "t1", "role": "user", "speaker": "Ann", "text": "I moved to Oslo."},
                        {"id": "t2", "role": "assistant", "speaker": "Bot", "text": "Nice."},
                    ],
                },
                {
                    "id": "s2",
                    "date": "2024-03-06T18:30:00",
                    "turns": [{"id": "t3", "role": "user", "speaker": "Ann", "text": "I got a dog."}],
                },
            ],
            "queries": [
                {
                    "id": "q1",
                    "text": "Where does Ann live?",
                    "category": {"name": "single-hop", "number": 1},
                    "gold_sessions": ["s1"],
                    "gold_turns": ["t1"],
                    "answer": "Oslo",
                }
            ],
        }
    ],
}
WHOLE = {"locomo": LOCOMO, "longmemeval": LONGMEMEVAL, "membench": NATIVE}
DELETED = object()


def changed(document, path, value):
    """A copy of ``document`` in which what ``path`` leads to is ``value``."""
    copy = deepcopy(document)
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if value is DELETED:
        del inner[path[-1]]
    elif isinstance(inner, list) and path[-1] == len(inner):
        inner.append(value)
    else:
        inner[path[-1]] = value
    return copy


def opened(path, form, **reading):
    return open_corpus(str(path), path.parent, Reading(**reading), form)


def refusal(path, form, **reading):
    with pytest.raises(CorpusError) as raised:
        opened(path, form, **reading)
    assert raised.value.what.startswith(f"{path}: ")
    assert raised.value.remedy
    return raised.value.what.removeprefix(f"{path}: ")


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_whole_is_read(form, corpus_file):
    corpus = opened(corpus_file(WHOLE[form]), form)
    assert (corpus.survey.scorable, corpus.survey.sessions) == (1, 2)
    assert corpus.key == "own"


FIELDS = [
    ("locomo", (0, "qa"), DELETED, "1 (conv-1), field qa: Field required"),
    ("locomo", (0, "sample_id"), 7, "1, field sample_id: Input should be a valid string, found 7"),
    ("locomo", (0, "sample_id"), DELETED, "1, field sample_id: Field required"),
    ("locomo", (0, "conversation"), [], "1 (conv-1), field conversation: Input should be a valid dictionary, found []"),
    ("locomo", (0, "conversation", "session_2"), None, "1 (conv-1), field sessions.session_2: "),
    (
        "locomo",
        (0, "conversation", "session_1", 1, "text"),
        3,
        "1 (conv-1), field sessions.session_1[1].text: Input should be a valid string, found 3",
    ),
    (
        "locomo",
        (0, "conversation", "session_1_date_time"),
        {},
        "1 (conv-1), field dates.session_1_date_time: Input should be a valid string, found {}",
    ),
    (
        "locomo",
        (0, "conversation", "session_2", 0, "dia_id"),
        "D1:1",
        "1 (conv-1), field conversation: a dia_id stands on two turns",
    ),
    ("locomo", (0, "qa", 0, "category"), 6, "1 (conv-1), field qa[0].category: expected a number from 1 to 5"),
    ("locomo", (0, "qa", 0, "category"), "4", "1 (conv-1), field qa[0].category: Input should be a valid integer"),
    ("locomo", (0, "qa", 0, "evidence"), "D1:1", "1 (conv-1), field qa[0].evidence: Input should be a valid list"),
    ("locomo", (0, "qa", 0, "evidence", 0), 1, "1 (conv-1), field qa[0].evidence[0]: Input should be a valid string"),
    ("longmemeval", (0, "question_date"), DELETED, "1 (q1), field question_date: Field required"),
    (
        "longmemeval",
        (0, "question_date"),
        None,
        "1 (q1), field question_date: Input should be a valid string, found None",
    ),
    ("longmemeval", (0, "question"), 7, "1 (q1), field question: Input should be a valid string, found 7"),
    ("longmemeval", (0, "question_id"), DELETED, "1, field question_id: Field required"),
    (
        "longmemeval",
        (0, "answer"),
        ["Oslo"],
        "1 (q1), field answer.str: Input should be a valid string, found ['Oslo']",
    ),
    (
        "longmemeval",
        (0, "answer_session_ids"),
        "answer_1",
        "1 (q1), field answer_session_ids: Input should be a valid list",
    ),
    (
        "longmemeval",
        (0, "haystack_session_ids", 1),
        2,
        "1 (q1), field haystack_session_ids[1]: Input should be a valid s",
    ),
    ("longmemeval", (0, "haystack_dates", 0), None, "1 (q1), field haystack_dates[0]: Input should be a valid string"),
    ("longmemeval", (0, "haystack_sessions"), None, "1 (q1), field haystack_sessions: Input should be a valid list"),
    (
        "longmemeval",
        (0, "haystack_sessions", 1, 0, "content"),
        None,
        "1 (q1), field haystack_sessions[1][0].content: Input should be a valid string, found None",
    ),
    (
        "longmemeval",
        (0, "haystack_sessions", 1, 0),
        "I got a dog.",
        "1 (q1), field haystack_sessions[1][0]: Input should be a valid dictionary",
    ),
    (
        "longmemeval",
        (1,),
        LONGMEMEVAL[0],
        "2 (q1), field id: expected unique ids, 'q1' stands in an earlier instance too",
    ),
    (
        "longmemeval",
        (0, "haystack_sessions", 1, 1, "role"),
        "system",
        "1 (q1), field haystack_sessions[1][1].role: Input should be 'user' or 'assistant', found 'system'",
    ),
    (
        "longmemeval",
        (0, "haystack_sessions", 0),
        {},
        "1 (q1), field haystack_sessions[0]: Input should be a valid list",
    ),
    (
        "longmemeval",
        (0, "haystack_sessions", 0, 0, "has_answer"),
        "yes",
        "1 (q1), field haystack_sessions[0][0].has_an",
    ),
    (
        "longmemeval",
        (0, "haystack_dates"),
        ["2023/05/20 (Sat) 02:21"],
        "1 (q1), field haystack_sessions: expected as many sessions as ids and dates, "
        "found haystack_session_ids 2, haystack_dates 1, haystack_sessions 2",
    ),
    ("longmemeval", (0, "haystack_session_ids", 1), DELETED, "1 (q1), field haystack_sessions: expected as many "),
    ("longmemeval", (0,), 5, "1, field (whole): Input should be a valid dictionary"),
    ("longmemeval", (0,), [[]], "1, field (whole): Input should be a valid dictionary"),
    ("locomo", (0, "sample_id"), "", "1 (), field sample_id: String should have at least 1 character"),
    ("longmemeval", (0, "question_type"), "", "1 (q1), field question_type: String should have at least 1 character"),
    ("membench", ("instances", 0, "queries", 0, "id"), "", "1 (i1), field queries[0].id: String should have at least"),
    ("membench", ("instances", 0), "i1", "1, field (whole): Input should be a valid dictionary"),
    ("membench", ("instances", 0, "titel"), "x", "1 (i1), field titel: Extra inputs are not permitted, found 'x'"),
    ("membench", ("instances", 0, "queries", 0, "gold"), [], "1 (i1), field queries[0].gold: Extra inputs are not"),
    (
        "membench",
        ("instances", 0, "sessions", 1, "turns", 0, "speaker"),
        DELETED,
        "1 (i1), field sessions[1].turns[0].speaker: Field required",
    ),
    (
        "membench",
        ("instances", 0, "sessions", 1, "id"),
        "s1",
        "1 (i1), field sessions: expected unique ids, found 's1' twice",
    ),
    (
        "membench",
        ("instances", 0, "sessions", 1, "turns", 0, "id"),
        "t2",
        "1 (i1), field turns: expected unique ids, found 't2' twice",
    ),
    (
        "membench",
        ("instances", 0, "queries"),
        NATIVE["instances"][0]["queries"] * 2,
        "1 (i1), field queries: expected unique ids, found 'q1' twice",
    ),
    (
        "membench",
        ("instances", 0, "queries", 0, "gold_turns"),
        ["t1", "t3"],
        "1 (i1), field queries[0].gold_turns: turn 't3' stands in session 's2', which gold_sessions does not name",
    ),
    (
        "membench",
        ("instances",),
        NATIVE["instances"] * 2,
        "2 (i1), field id: expected unique ids, 'i1' stands in an earlier instance too",
    ),
    (
        "membench",
        ("instances",),
        [*NATIVE["instances"], {**NATIVE["instances"][0], "id": "i2"}],
        "2 (i2), field queries: expected unique ids, 'q1' stands in an earlier instance too",
    ),
]


@pytest.mark.parametrize(("form", "where", "value", "expected"), FIELDS)
def test_a_malformed_field_is_named_with_its_instance(form, where, value, expected, corpus_file):
    path = corpus_file(changed(WHOLE[form], where, value))
    assert refusal(path, form).startswith(f"instance {expected}")


def test_the_instance_that_is_named_is_the_malformed_one(corpus_file):
    third = changed(LONGMEMEVAL, (0, "question_id"), "q3")[0]
    del third["question"]
    second = changed(LONGMEMEVAL, (0, "question_id"), "q2")[0]
    assert refusal(corpus_file([*LONGMEMEVAL, second, third]), "longmemeval").startswith(
        "instance 3 (q3), field question: Field required"
    )


def test_further_faults_of_the_instance_are_counted(corpus_file):
    broken = changed(LONGMEMEVAL, (0, "haystack_sessions", 1), [{"role": "user"}, {"content": 1}])
    assert refusal(corpus_file(broken), "longmemeval").endswith(" (and 2 more)")


@pytest.mark.parametrize("kept", [0.3, 0.99])
@pytest.mark.parametrize("form", FORMATS)
def test_a_truncated_file_is_refused(form, kept, corpus_file):
    text = json.dumps(WHOLE[form])
    assert refusal(corpus_file(text[: int(len(text) * kept)]), form).startswith("invalid JSON in value ")


def test_truncated_lines_are_refused_by_number(corpus_file):
    line = json.dumps(LONGMEMEVAL[0])
    other = line.replace('"q1"', '"q2"')
    assert refusal(corpus_file(f"{line}\n\n{other[:-40]}\n"), "longmemeval").startswith("invalid JSON on line 3: ")


@pytest.mark.parametrize("garbage", ["{'a': 1}", "nan", "{}{}", '{"a": 1e999}', '{"a": "\\ud83d"}'])
def test_invalid_json_is_refused_by_line(garbage, corpus_file):
    text = f"{json.dumps(LONGMEMEVAL[0])}\n{garbage}\n"
    assert refusal(corpus_file(text), "longmemeval").startswith("invalid JSON on line 2: ")


def test_text_after_the_array_is_refused(corpus_file):
    assert refusal(corpus_file(json.dumps(LONGMEMEVAL) + "x"), "longmemeval").startswith("invalid JSON in value 2: ")


@pytest.mark.parametrize("shape", ["array", "lines"])
def test_bytes_that_are_not_utf_8_are_refused(shape, corpus_file):
    text = json.dumps(LONGMEMEVAL if shape == "array" else LONGMEMEVAL[0]).encode().replace(b"Oslo.", b"Oslo\xff")
    assert refusal(corpus_file(text), "longmemeval").startswith("invalid JSON")


@pytest.mark.parametrize("shape", ["array", "lines"])
@pytest.mark.parametrize("damage", ["short", "checksum"])
def test_a_damaged_gzip_stream_is_refused(shape, damage, corpus_file):
    text = json.dumps(LONGMEMEVAL if shape == "array" else LONGMEMEVAL[0])
    packed = bytearray(gzip.compress(text.encode() + b" " * 100_000))
    if damage == "short":
        del packed[-30:]
    else:
        packed[-6] ^= 1
    assert "gzip stream is damaged or cut short" in refusal(corpus_file(bytes(packed)), "longmemeval")


@pytest.mark.parametrize(("shape", "place"), [("array", "in value 2"), ("lines", "on line 2")])
@pytest.mark.parametrize("cut", ["the text", "the packed text", "the stream"])
def test_a_file_that_ends_within_an_instance_is_refused(shape, place, cut, corpus_file):
    chance = random.Random(1)
    content = [
        [{"role": "user", "content": chance.randbytes(100_000).hex()}],
        [{"role": "user", "content": "I got a dog."}],
    ]
    three = [{**LONGMEMEVAL[0], "question_id": f"q{number}", "haystack_sessions": content} for number in (1, 2, 3)]
    text = (json.dumps(three) if shape == "array" else "".join(f"{json.dumps(one)}\n" for one in three)).encode()
    half = len(text) // 2
    written = {
        "the text": text[:half],
        "the packed text": gzip.compress(text[:half]),
        "the stream": gzip.compress(text)[:-70_000],
    }
    expected = "the gzip stream is damaged or cut short: " if cut == "the stream" else f"invalid JSON {place}: "
    assert refusal(corpus_file(written[cut]), "longmemeval").startswith(expected)


@pytest.mark.parametrize("content", ["", " \n\t", "3", '"text"', "null", b"\x1f\x8b", b"\x00\x01"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_file_of_nothing_like_a_corpus_is_refused(form, content, corpus_file):
    refusal(corpus_file(content), form)


@pytest.mark.parametrize("content", ["[]", "[[]]", "[1, 2]", "[null]", "{}", '{"instances": []}'])
@pytest.mark.parametrize("form", FORMATS)
def test_a_document_of_the_wrong_shape_is_refused(form, content, corpus_file):
    refusal(corpus_file(content), form)


@pytest.mark.parametrize("content", ['"instancs": [{}]', '"instances": {"a": 1}', '"instances": []'])
def test_the_native_format_says_that_its_array_is_missing(content, corpus_file):
    document = f'{{"schema": "membench.corpus/1", {content}}}'
    assert refusal(corpus_file(document), "membench").startswith("expected a JSON object with an array 'instances'")


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_of_another_format_is_refused(form, corpus_file):
    for other in set(FORMATS) - {form}:
        refusal(corpus_file(WHOLE[other]), form)


@pytest.mark.parametrize("form", FORMATS)
def test_deep_nesting_is_refused_without_a_traceback(form, corpus_file):
    deep = "[" * 1_500 + "]" * 1_500
    refusal(corpus_file(f'{{"instances": [{deep}]}}' if form == "membench" else f"[{deep}]"), form)


def test_a_directory_is_refused(tmp_path):
    assert refusal(tmp_path, "locomo") == "cannot be read: Is a directory"


def test_an_absent_file_is_refused(tmp_path):
    assert refusal(tmp_path / "none.json", "locomo") == "cannot be read: No such file or directory"


def test_nothing_left_of_the_part_asked_for_is_refused(corpus_file):
    assert refusal(corpus_file(LOCOMO), "locomo", part=Slice(queries=0)) == "no query in it in its first 0 queries"
    assert refusal(corpus_file(changed(LOCOMO, (0, "qa"), [])), "locomo") == "no query in it"


def test_nothing_scorable_is_refused_with_the_reasons(corpus_file):
    asked = LOCOMO[0]["qa"][0]
    asked = [{**asked, "category": 5}, {**asked, "evidence": ["D9:9"]}, {**asked, "evidence": []}]
    path = corpus_file(changed(LOCOMO, (0, "qa"), asked))
    assert refusal(path, "locomo", part=Slice(1, 3)) == (
        "none of its 3 queries can be scored in its first 1 instances and 3 queries: "
        "1 are unanswerable and 2 have no gold in their haystack"
    )


def test_native_gold_that_names_nothing_is_counted(corpus_file):
    query = {**NATIVE["instances"][0]["queries"][0], "gold_sessions": ["s1", "t2", "s9"], "gold_turns": ["t1", "s2"]}
    corpus = opened(corpus_file(changed(NATIVE, ("instances", 0, "queries", 0), query)), "membench")
    assert next(corpus.instances()).queries[0].dangling == ("t2", "s9", "s2")
    assert corpus.survey.quirks.dangling_references == 3


@pytest.mark.parametrize("date", ["soon", "", "2024-13-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:00-01:00"])
def test_a_native_date_that_is_none_is_counted(date, corpus_file):
    corpus = opened(corpus_file(changed(NATIVE, ("instances", 0, "sessions", 0, "date"), date)), "membench")
    assert corpus.survey.quirks.undated_sessions == 1


def test_a_native_date_is_read_in_utc(corpus_file):
    path = corpus_file(changed(NATIVE, ("instances", 0, "sessions", 0, "date"), "2024-03-05T18:30:00+02:00"))
    assert next(opened(path, "membench").instances()).sessions[0].date.isoformat() == "2024-03-05T16:30:00"


def test_a_file_without_its_format_is_asked_for_it(corpus_file):
    path = corpus_file(LOCOMO)
    with pytest.raises(UsageError) as raised:
        open_corpus(str(path), path.parent, Reading())
    assert raised.value.what == f"{path} is a file: say how it is written."
    assert raised.value.remedy == "Add --format locomo or longmemeval or membench."


def test_an_unknown_key_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(UsageError, match="unknown corpus 'locomo'") as raised:
        open_corpus("locomo", tmp_path, Reading())
    assert "Did you mean locomo10?" in raised.value.remedy
    assert "longmemeval_s" in raised.value.remedy


def test_a_corpus_that_was_not_fetched_says_how(tmp_path):
    with pytest.raises(CorpusError, match="membench fetch locomo10"):
        open_corpus("locomo10", tmp_path, Reading())


@pytest.mark.parametrize("form", ["longmemeval", "membench"])
def test_repaired_gold_is_of_locomo_only(form, corpus_file):
    with pytest.raises(UsageError, match="is not LoCoMo"):
        opened(corpus_file(WHOLE[form]), form, gold="repaired")


TEXTS = {
    "locomo": (0, "conversation", "session_1", 0, "text"),
    "longmemeval": (0, "haystack_sessions", 0, 0, "content"),
    "membench": ("instances", 0, "sessions", 0, "turns", 0, "text"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_lone_surrogate_in_a_text_is_read_or_refused(form, corpus_file):
    for lone in ("a \ud83d b", "a \udc00 b"):
        try:
            corpus = opened(corpus_file(changed(WHOLE[form], TEXTS[form], lone)), form)
        except CorpusError as error:
            assert "invalid JSON" in error.what
        else:
            assert "\ud83d" not in next(corpus.instances()).sessions[0].turns[0].text


@pytest.mark.parametrize("form", FORMATS)
def test_a_turn_of_a_megabyte_is_read_whole(form, corpus_file):
    long = "word " * 200_000
    corpus = opened(corpus_file(changed(WHOLE[form], TEXTS[form], long)), form)
    assert next(corpus.instances()).sessions[0].turns[0].text == long


@pytest.mark.parametrize("form", FORMATS)
def test_an_instance_without_sessions_has_no_gold(form, corpus_file):
    empty = {
        "locomo": [((0, "conversation"), {})],
        "longmemeval": [((0, name), []) for name in ("haystack_dates", "haystack_session_ids", "haystack_sessions")],
        "membench": [(("instances", 0, "sessions"), [])],
    }
    document = WHOLE[form]
    for where, value in empty[form]:
        document = changed(document, where, value)
    assert "1 have no gold in their haystack" in refusal(corpus_file(document), form)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def paths_of(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_of(inner, (*path, key))


@pytest.mark.parametrize("form", FORMATS)
def test_whatever_stands_in_a_field_nothing_but_a_membench_error_comes_of_it(form, tmp_path_factory):
    places = [path for path in paths_of(WHOLE[form]) if path]
    file = tmp_path_factory.mktemp("fuzz") / "own.json"

    @settings(max_examples=150, deadline=None)
    @given(st.sampled_from(places), JSON)
    def damaged(where, value):
        file.write_text(json.dumps(changed(WHOLE[form], where, value)))
        try:
            opened(file, form)
        except MembenchError as error:
            assert error.what.startswith(f"{file}: ")

    damaged()


@pytest.mark.parametrize("content", ["{}", "[1, 2]", '{"instances": []}', '{"schema": "membench.corpus/2"}'])
def test_a_native_corpus_that_does_not_say_its_version_is_refused(content, corpus_file):
    assert refusal(corpus_file(content), "membench").startswith('expected "schema": "membench.corpus/1"')


@pytest.mark.parametrize(
    ("name", "key"),
    [("chats.v1.json", "chats_v1"), (".json", "corpus"), ("a b.JSONL.gz", "a_b"), ("é" * 40 + "x" * 60, "x" * 40)],
)
def test_a_file_gives_its_corpus_a_name_of_its_own_that_is_safe_in_another(corpus_file, tmp_path, name, key):
    path = tmp_path / name
    path.write_bytes(corpus_file(WHOLE["locomo"]).read_bytes())
    assert opened(path, "locomo").key == key


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_no_part_of_a_corpus(form, packed, corpus_file, tmp_path):
    written = b"\xef\xbb\xbf" + corpus_file(WHOLE[form]).read_bytes()
    path = tmp_path / "marked.json"
    path.write_bytes(gzip.compress(written) if packed else written)
    assert opened(path, form).survey.scorable == 1
