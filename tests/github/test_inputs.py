"""The inputs as the runner gives them: read, checked, refused with the name of what is wrong."""

from pathlib import Path

import pytest

from membench.corpora.shards import Shard
from membench.errors import UsageError
from membench.github.inputs import Inputs, read_inputs


def given(workspace, **inputs):
    return read_inputs({f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}, workspace)


def test_nothing_given_is_the_defaults(tmp_path):
    assert given(tmp_path) == Inputs()


def test_an_empty_input_has_its_default_as_a_caller_passes_on_what_it_was_not_given(tmp_path):
    assert given(tmp_path, corpus="", timelines=" ", instances="", baseline_pr="", base="") == Inputs()


def test_every_input_is_read(tmp_path):
    inputs = given(
        tmp_path,
        corpus="chats.jsonl",
        format="longmemeval",
        timelines="now, anchored\n asked now",
        granularity="session",
        pool="shared",
        memory="bm25",
        memory_options="k1=1.2\nb='0.5'",
        memory_python=".venv/bin/python",
        setup="pip install x\nmake",
        model="m.gguf",
        instances="3",
        queries="20",
        gold="repaired",
        input_window="128",
        workers="2",
        measurements="parts",
        baseline_dir="bench/accepted/",
        baseline_pr="false",
        baseline_branch="bot/figures",
        base="release/2",
        pr_labels="benchmark, memory ,benchmark",
        pr_draft="true",
        github_token="t",
        cache_dir="cache",
        report_dir="out/reports",
        templates="templates",
    )
    assert inputs == Inputs.model_validate(
        {
            "corpus": "chats.jsonl",
            "format": "longmemeval",
            "timelines": ("now", "anchored", "asked"),
            "granularity": "session",
            "pool": "shared",
            "memory": "bm25",
            "memory-options": {"k1": "1.2", "b": "0.5"},
            "memory-python": ".venv/bin/python",
            "setup": "pip install x\nmake",
            "model": "m.gguf",
            "instances": 3,
            "queries": 20,
            "gold": "repaired",
            "input-window": 128,
            "workers": 2,
            "measurements": "parts",
            "baseline-dir": "bench/accepted",
            "baseline-pr": False,
            "baseline-branch": "bot/figures",
            "base": "release/2",
            "pr-labels": ("benchmark", "memory"),
            "pr-draft": True,
            "github-token": "t",
            "cache-dir": "cache",
            "report-dir": "out/reports",
            "templates": "templates",
        }
    )
    assert len(Inputs.model_fields) == 27


def test_the_token_shows_in_no_representation(tmp_path):
    assert "sekret" not in repr(given(tmp_path, github_token="sekret"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("timelines", "now,yesterday", "'now', 'anchored' or 'asked'"),
        ("timelines", "literal", "'now', 'anchored' or 'asked'"),
        ("granularity", "word", "'turn'"),
        ("pool", "everything", "'own'"),
        ("gold", "golden", "'verbatim'"),
        ("format", "csv", "'locomo'"),
        ("instances", "ten", "integer"),
        ("instances", "0", "greater than or equal to 1"),
        ("queries", "-3", "greater than or equal to 1"),
        ("queries", "1.5", "integer"),
        ("workers", "many", "integer"),
        ("input_window", "all", "expected a number of tokens, or full"),
        ("input_window", "0", "expected a number of tokens, or full"),
        ("input_window", "-1: 5", "expected a number of tokens, or full"),
        ("shard", "2", "expected I/N"),
        ("shard", "0/2", "expected I/N"),
        ("shard", "3/2", "from 1 to N"),
        ("shard", "1-of-2", "expected I/N"),
        ("baseline_pr", "yes", "expected true or false"),
        ("baseline_pr", "True", "expected true or false"),
        ("pr_draft", "1", "expected true or false"),
        ("memory_options", "decay_rate", "expected name=value"),
        ("memory_options", "=1", "expected name=value"),
        ("memory_options", "a=1 a=2", "given twice"),
        ("memory_options", "a='1", "quotes do not match"),
        ("baseline_dir", "/baselines", "below the root of the repository"),
        ("baseline_dir", "../other", "below the root of the repository"),
        ("baseline_dir", ".", "below the root of the repository"),
        ("baseline_dir", ".git/x", "below the root of the repository"),
        ("baseline_branch", "a b", "name of a branch"),
        ("baseline_branch", "-x", "name of a branch"),
        ("baseline_branch", "a..b", "name of a branch"),
        ("base", "main.lock", "name of a branch"),
        ("base", "refs:heads", "name of a branch"),
        ("memory_options", "a=1 =2", "expected name=value"),
    ],
)
def test_a_malformed_input_is_refused_by_its_name(tmp_path, name, value, said):
    with pytest.raises(UsageError) as caught:
        given(tmp_path, **{name: value})
    assert f"The input {name.replace('_', '-')} is {value!r}" in caught.value.what
    assert said in caught.value.what
    assert "--" not in caught.value.what
    assert caught.value.remedy


def test_an_input_window_is_a_number_or_full(tmp_path):
    assert given(tmp_path, input_window="256").input_window == 256
    assert given(tmp_path, input_window="full") == Inputs()


def test_a_shard_is_one_of_several(tmp_path):
    assert given(tmp_path, shard="2/4").shard == Shard(2, 4)


@pytest.mark.parametrize(("name", "value"), [("measurements", "all"), ("pool", "shared")])
def test_a_shard_is_refused_beside_what_leaves_nothing_to_share_out(tmp_path, name, value):
    with pytest.raises(UsageError, match=f"inputs shard and {name} are '1/4' and '{value}'") as caught:
        given(tmp_path, shard="1/4", **{name: value})
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["cache_dir", "report_dir", "templates", "measurements"])
@pytest.mark.parametrize("value", ["/home/runner/work/_temp/x", "../x", "a/../../x", "~/x"])
def test_a_folder_that_the_container_does_not_see_is_refused(tmp_path, name, value):
    with pytest.raises(UsageError, match="outside of the workspace"):
        given(tmp_path, **{name: value})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"report_dir": "baselines"}, {}),
        ({"report_dir": "baselines/reports"}, {}),
        ({"report_dir": "."}, {}),
        ({"cache_dir": "x"}, {"report_dir": "x/reports"}),
        ({"measurements": "baselines"}, {}),
        ({"measurements": "all"}, {"report_dir": "all/compared"}),
    ],
)
def test_folders_that_lie_in_one_another_are_refused(tmp_path, one, other):
    with pytest.raises(UsageError, match="neither may lie in the other"):
        given(tmp_path, **one, **other)


def test_a_branch_may_be_named_as_github_does(tmp_path):
    assert given(tmp_path, base="refs/heads/main").base == "main"


def test_a_file_without_a_format_is_refused_with_the_input_that_is_missing(tmp_path):
    (tmp_path / "chats.json").write_text("[]")
    with pytest.raises(UsageError, match="say how it is written") as caught:
        given(tmp_path, corpus="chats.json")
    assert "input format" in str(caught.value.remedy)


def test_a_folder_may_be_named_as_the_container_sees_it(tmp_path):
    assert given(tmp_path, report_dir=str(tmp_path / "x")).report_dir == str(tmp_path / "x")


def test_a_link_that_leads_out_of_the_workspace_is_refused(tmp_path):
    (tmp_path / "cache").symlink_to(Path("/"))
    with pytest.raises(UsageError, match="outside of the workspace"):
        given(tmp_path, cache_dir="cache/x")


def test_an_unknown_input_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(UsageError, match=r"no input 'timeline'. Did you mean timelines\?"):
        given(tmp_path, timeline="now")


def test_a_runner_writes_blanks_in_a_name_as_underscores_and_keeps_hyphens(tmp_path):
    assert read_inputs({"INPUT_BASELINE-DIR": "b", "PATH": "/bin"}, tmp_path).baseline_dir == "b"
