"""Two measurements at different input windows: what is said of them, and the run that tells more."""

import shlex
from datetime import datetime

import pytest
from remeasured import measured
from typer.testing import CliRunner
from windowed import with_model

from membench.cli.app import app
from membench.compare.compare import compare
from membench.compare.control import control_of
from membench.compare.windows import percent
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.embedding.catalog import MODELS
from membench.embedding.choice import EmbedderChoice
from membench.reports.canonical import canonical_json
from membench.reports.measurement import Measurement

BGE = MODELS["bge-small-en-v1.5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("windows")


@pytest.fixture(scope="module")
def wide(default_model, folder) -> Measurement:
    return with_model(default_model, folder)


@pytest.fixture(scope="module")
def narrow(default_model, folder) -> Measurement:
    return with_model(default_model, folder, embedder=EmbedderChoice(input_window=16))


def of(measurement: Measurement, part: str, **changes) -> Measurement:
    return measurement.model_copy(update={part: getattr(measurement, part).model_copy(update=changes)})


def of_bge(measurement: Measurement) -> Measurement:
    return of(measurement, "embedder", key=BGE.key, sha256=BGE.sha256, pooling=BGE.pooling, probe="0" * 64)


def shares(measurement: Measurement) -> list[str]:
    inputs = measurement.inputs
    return [percent(kind.share_seen) for kind in (inputs.documents, inputs.queries)]


def test_one_model_at_two_windows_saw_different_parts(wide, narrow):
    comparison = compare(narrow, wide)
    assert [refusal.what for refusal in comparison.refusals] == ["embedder"]
    documents, queries = shares(narrow)
    assert (shares(wide), documents != "100%", queries != "100%") == (["100%", "100%"], True, True)
    (told,) = comparison.notices
    assert told == (
        "the two saw different parts of the texts: "
        f"up to 16 tokens of each in the baseline ({documents} of the written tokens, {queries} of the queries' tokens)"
        " and up to 512 tokens of each in the candidate (100% of the written tokens, 100% of the queries' tokens); "
        "the control gives both 16 tokens: the baseline has them, the candidate has to be measured again"
    )
    (control,) = comparison.controls
    assert (control.side, control.input_window, control.missing) == ("candidate", 16, [])
    assert control.command == "membench retrieval sample --instances 1 --queries 20 --input-window 16"


def test_of_two_models_no_difference_is_the_models_alone(wide, narrow):
    comparison = compare(narrow, of_bge(wide))
    (told,) = comparison.notices
    assert told.startswith("the models saw different parts of the texts: up to 16 tokens of each in the baseline (")
    assert "; what differs between their figures cannot be attributed to the model alone; " in told
    (control,) = comparison.controls
    assert shlex.split(control.command)[3:7] == ["--instances", "1", "--queries", "20"]
    assert control.command.endswith(" --model bge-small-en-v1.5 --input-window 16")


def test_where_the_baselines_window_is_the_larger_the_baseline_has_to_be_measured_at_the_smaller(wide, narrow):
    comparison = compare(of_bge(wide), narrow)
    assert comparison.notices[0].endswith(
        "the control gives both 16 tokens: the candidate has them, the baseline has to be measured again"
    )
    (control,) = comparison.controls
    assert control.side == "baseline"
    assert "--model bge-small-en-v1.5" in control.command


def test_windows_that_cut_nothing_are_told_apart_and_need_no_control(wide):
    comparison = compare(wide, of(wide, "embedder", input_window=256, probe="0" * 64))
    assert comparison.notices == [
        "the input windows differ, 512 tokens in the baseline and 256 in the candidate, "
        "and neither of them cut any text"
    ]
    assert comparison.controls == []


def test_equal_windows_are_no_matter_whatever_share_was_seen(narrow):
    inputs = narrow.inputs
    documents = inputs.documents.model_copy(update={"share_seen": 0.1})
    other = of(narrow, "inputs", documents=documents)
    for one in (narrow, other, of_bge(other)):
        comparison = compare(narrow, one)
        assert (comparison.notices, comparison.controls) == ([], [])


def test_without_an_embedder_or_a_window_there_is_nothing_to_tell(clean, wide, tmp_path):
    toy = measured(tmp_path, memory="episodic", toy=True)
    for other in (clean, toy):
        assert "tokens" not in " ".join(compare(other, wide).notices)
        assert compare(other, wide).controls == compare(wide, other).controls == []


def test_what_a_side_saw_stands_in_the_comparison(clean, wide, narrow):
    comparison = compare(narrow, wide)
    assert (comparison.baseline.seen.input_window, comparison.candidate.seen.input_window) == (16, 512)
    assert comparison.baseline.seen.model_window == 512
    assert comparison.baseline.seen.inputs == narrow.inputs
    assert compare(clean, clean).candidate.seen is None


def test_a_refused_comparison_still_tells_of_cut_offs_and_nothing_that_is_not_so(wide, narrow):
    fewer = of(of(wide, "arm", cut_offs=[1, 5]), "embedder", build="another")
    told, cut_offs = compare(narrow, fewer).notices
    assert "saw different parts" in told
    assert cut_offs == "only the baseline was scored at 3, 8, 10, 20"


# The command.

ASKED = {
    "the usual": {},
    "everything else": {
        "reading": Reading("verbatim", "user", True, True, Slice(instances=1, queries=9)),
        "timelines": ("literal",),
        "as_of": datetime(2024, 3, 5, 18, 30),
        "granularity": "chunk",
        "chunk_size": 700,
        "pool": "shared",
        "limit": 30,
        "cut_offs": (1, 4, 30),
        "memory_options": {"decay_rate": "0.5", "backend": "cosine", "max_chars": "none", "mmr": "off"},
        "embedder": {"pooling": "cls", "document_prompt": "it's: ", "query_prompt": "$(who) "},
    },
}


@pytest.mark.parametrize("name", ASKED)
def test_the_command_measures_the_same_arm_at_the_other_window(name, default_model, folder, tmp_path, monkeypatch):
    asked = dict(ASKED[name])
    choice = asked.pop("embedder", {})
    once = with_model(default_model, folder, **asked, embedder=EmbedderChoice(**choice))
    control = control_of("candidate", once, 16)
    assert control.missing == []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMBENCH_CACHE", str(folder / "cache"))
    done = CliRunner().invoke(app, shlex.split(control.command)[1:])
    assert done.exit_code == 0, done.output
    (written,) = (one for one in (tmp_path / "reports").glob("*.json") if "provenance" not in one.name)
    expected = with_model(default_model, folder, **asked, embedder=EmbedderChoice(**choice, input_window=16))
    assert written.read_bytes() == canonical_json(expected)


@pytest.mark.parametrize("name", ["chats", "$(touch x); it's", "-rf", "two\nlines"])
def test_what_no_measurement_records_is_in_angle_brackets_and_said(name, wide):
    own = of(of(of(wide, "corpus", key=name), "memory", name=name), "embedder", key=name)
    control = control_of("candidate", own, 16)
    words = shlex.split(control.command)
    assert words[:5] == [
        "membench",
        "retrieval",
        f"<file of {name}>",
        "--format",
        "<locomo or longmemeval or membench>",
    ]
    assert words[5:7] == ["--no-captions", "--no-speakers"]
    assert words[words.index("--memory") + 1] == f"<specification of {name}>"
    assert "--memory-option" not in words
    assert words[words.index("--model") + 1] == f"<file of {name}>"
    assert words[words.index("--pooling") + 1] == "mean"
    assert [one.split(f" {name}")[0] for one in control.missing] == [
        "the file of the corpus",
        "how the memory",
        "the file of the model",
    ]


def test_a_file_with_the_name_of_a_model_of_the_list_is_a_file(wide):
    other = of(wide, "embedder", sha256="0" * 64)
    assert "'<file of all-minilm-l6-v2>'" in control_of("baseline", other, 16).command


def test_repaired_gold_is_locomos(wide):
    own = of(wide, "corpus", key="chats", gold="repaired")
    control = control_of("candidate", own, 16)
    assert "--format locomo " in control.command
    assert "--gold repaired" in control.command
    assert control.missing == ["the file of the corpus chats"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.0, "100%"), (0.0, "0%"), (0.8731, "87.3%"), (0.99996, "99.996%"), (0.0004, "0.04%"), (0.5, "50.0%")],
)
def test_a_share_that_is_not_all_never_looks_like_all(share, text):
    assert percent(share) == text


def test_windows_beyond_the_longest_probe_text_are_told_apart_where_texts_were_cut(wide, narrow):
    """The probes of two large windows are equal: every probe text is shorter."""
    probe = wide.embedder.probe
    cut = of(narrow, "embedder", probe=probe)
    assert [refusal.what for refusal in compare(cut, wide).refusals] == ["input window"]
    assert [refusal.what for refusal in compare(wide, cut).refusals] == ["input window"]
    assert len(compare(cut, wide).controls) == 1
    uncut = of(wide, "embedder", input_window=400)
    assert compare(uncut, wide).refusals == []
