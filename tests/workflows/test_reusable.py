"""The reusable workflow takes what the action takes, and hands it on."""

import pytest
import workflow_files as files

NAME = ".github/workflows/measure.yml"
CALL = files.load(NAME)["on"]["workflow_call"]
TEXT = (files.ROOT / NAME).read_text(encoding="utf-8")
# Of the workflow alone, or, for `timelines`, an array there since each of them is a job.
ITS_OWN = {"timelines", "shards", "artifact", "timeout-minutes"}
# Between its own jobs, or a matter of the machine that it chooses.
LEFT_OUT = {"shard", "measurements", "workers", "cache-dir", "report-dir", "github-token"}


def test_it_takes_every_input_of_the_action_but_those_that_it_sets_itself():
    assert set(CALL["inputs"]) - ITS_OWN == set(files.ACTION["inputs"]) - LEFT_OUT - {"timelines"}


@pytest.mark.parametrize("name", sorted(set(CALL["inputs"]) - ITS_OWN))
def test_an_input_has_the_default_and_the_words_of_the_actions(name):
    ours, action = CALL["inputs"][name], files.ACTION["inputs"][name]
    default = ours["default"]
    assert (str(default).lower() if isinstance(default, bool) else default) == action["default"]
    assert ours["description"] == action["description"].replace(", `true` or `false`", "")


@pytest.mark.parametrize("name", sorted(CALL["inputs"]))
def test_every_input_is_used(name):
    assert f"inputs.{name}" in TEXT.split("\njobs:\n")[1]


def test_what_the_action_is_given_is_the_input_of_the_same_name():
    for job in files.jobs(NAME).values():
        for step in files.own_steps(job):
            for name, value in step["with"].items():
                if name in CALL["inputs"] and name not in ITS_OWN and value != "false":
                    assert value == f"${{{{ inputs.{name} }}}}"


@pytest.mark.parametrize("name", sorted(CALL["outputs"]))
def test_an_output_is_the_actions_by_way_of_the_last_job(name):
    assert CALL["outputs"][name]["value"] == f"${{{{ jobs.propose.outputs.{name} }}}}"
    assert files.jobs(NAME)["propose"]["outputs"][name] == f"${{{{ steps.membench.outputs.{name} }}}}"
    assert CALL["outputs"][name]["description"] == files.ACTION["outputs"][name]["description"]
