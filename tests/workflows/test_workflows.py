"""What every workflow and every example keeps: pins, bounds, permissions, and names that `action.yml` has."""

import re

import pytest
import workflow_files as files
from pins import PINS

EVERY = files.named(files.EVERY)
OURS = files.named(files.WORKFLOWS)
REUSABLE = ".github/workflows/measure.yml"
EVERY_JOB = [(name, job) for name in EVERY for job in files.jobs(name)]


def used(name):
    """(action, ref, comment) of each `uses:` line."""
    text = (files.ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"^\s*(?:- )?uses: ([^@\s]+)(?:@(\S+))?(?: # (.*))?$", text, re.MULTILINE)


def test_there_are_workflows_and_examples():
    assert set(OURS) == {f".github/workflows/{name}.yml" for name in ("ci", "measure", "nightly", "release")}
    assert len(EVERY) > len(OURS) + 4


@pytest.mark.parametrize("name", EVERY)
def test_every_action_of_others_is_pinned_to_a_commit_that_was_looked_up(name):
    lines = used(name)
    assert len(lines) == (files.ROOT / name).read_text(encoding="utf-8").count("uses: ")
    for action, ref, comment in lines:
        if action in ("./", "$/.") or action.startswith("membench/membench"):
            continue
        owner, repository, *_ = action.split("/")
        pin = PINS[f"{owner}/{repository}"]
        assert (ref, comment) == (pin.commit, pin.version), action
        assert re.fullmatch(r"[0-9a-f]{40}", ref)


def test_every_pin_is_used():
    found = {"/".join(action.split("/")[:2]) for name in EVERY for action, _, _ in used(name)}
    assert set(PINS) <= found


@pytest.mark.parametrize("name", OURS)
def test_our_workflows_use_the_action_of_their_own_commit(name):
    assert not any(action.startswith("membench/") for action, _, _ in used(name))
    for job in files.jobs(name).values():
        for step in files.own_steps(job):
            # Only a release measures with the action of the workspace, which it has just pointed at the image.
            assert step["uses"] == ("./" if name.endswith("release.yml") else "$/.")


@pytest.mark.parametrize("name", files.named(files.EXAMPLES))
def test_examples_use_the_action_by_its_name(name):
    uses = [action for action, _, _ in used(name)]
    assert any(action.startswith("membench/membench") for action in uses)
    assert not any(action.startswith(("./", "$/")) for action in uses)


@pytest.mark.parametrize(("name", "job"), EVERY_JOB)
def test_every_job_is_bounded_and_says_its_permissions(name, job):
    body = files.jobs(name)[job]
    assert isinstance(body["permissions"], dict)
    if "uses" not in body:
        assert "timeout-minutes" in body
        assert "latest" not in str(body["runs-on"])


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_granted_to_a_whole_workflow(name):
    assert files.load(name)["permissions"] == {}


@pytest.mark.parametrize(("name", "job"), [(n, j) for n, j in EVERY_JOB if files.own_steps(files.jobs(n)[j])])
def test_a_job_that_proposes_may_write_and_one_that_measures_may_not(name, job):
    body = files.jobs(name)[job]
    if any(files.proposes(step) for step in files.own_steps(body)):
        assert body["permissions"] == {"contents": "write", "pull-requests": "write"}
    else:
        assert body["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("name", EVERY)
def test_no_checkout_leaves_its_token_in_the_workspace(name):
    for job in files.jobs(name).values():
        for step in files.steps(job):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", EVERY)
def test_no_expression_is_pasted_into_a_script(name):
    for job in files.jobs(name).values():
        assert not [step["run"] for step in files.steps(job) if "${{" in step.get("run", "")]


@pytest.mark.parametrize("name", EVERY)
def test_runs_that_would_meet_wait_for_each_other(name):
    workflow = files.load(name)
    if name == REUSABLE:
        # A called workflow that names its caller's group would wait for itself: only the job that proposes has one.
        assert "concurrency" not in workflow
        assert workflow["jobs"]["propose"]["concurrency"]["cancel-in-progress"] is False
        return
    concurrency = workflow["concurrency"]
    if "pull_request" not in workflow["on"]:
        assert isinstance(concurrency, str) or concurrency["cancel-in-progress"] is False


@pytest.mark.parametrize("name", EVERY)
def test_a_schedule_is_eight_in_the_morning_utc(name):
    for schedule in files.load(name)["on"].get("schedule", []):
        assert schedule == {"cron": "0 8 * * *"}


def test_the_nightly_run_has_a_schedule():
    assert files.load(".github/workflows/nightly.yml")["on"]["schedule"]


@pytest.mark.parametrize("name", EVERY)
def test_every_input_given_is_one_of_the_action(name):
    for job in files.jobs(name).values():
        for step in files.own_steps(job):
            assert set(step.get("with", {})) <= set(files.ACTION["inputs"])
        if job.get("uses", "").startswith(files.CALLED):
            assert set(job["with"]) <= set(files.load(REUSABLE)["on"]["workflow_call"]["inputs"])


@pytest.mark.parametrize(("name", "job"), EVERY_JOB)
def test_every_output_read_is_one_that_a_step_has(name, job):
    body = files.jobs(name)[job]
    ours = {step["id"] for step in files.own_steps(body) if "id" in step}
    others = {step["id"]: step for step in files.steps(body) if "id" in step and step["id"] not in ours}
    for text in files.strings(body):
        for step, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", text):
            if step in ours:
                assert output in files.ACTION["outputs"]
            elif others[step].get("uses", "").startswith("actions/cache/restore@"):
                assert output in ("cache-hit", "cache-primary-key", "cache-matched-key")
            else:
                # A script; the one that runs on two architectures names its output after its own.
                assert re.search(rf"\b{output}=.*|\$ARCHITECTURE=.*", others[step]["run"])
                assert "GITHUB_OUTPUT" in others[step]["run"]


@pytest.mark.parametrize(("name", "job"), EVERY_JOB)
def test_every_output_of_another_job_is_one_that_it_has(name, job):
    body = files.jobs(name)[job]
    needed = body.get("needs", [])
    needed = [needed] if isinstance(needed, str) else needed
    for text in files.strings(body):
        for other, output in re.findall(r"needs\.([\w-]+)\.outputs\.([\w-]+)", text):
            assert other in needed
            called = files.jobs(name)[other].get("uses", "").startswith(files.CALLED)
            outputs = files.load(REUSABLE)["on"]["workflow_call"] if called else files.jobs(name)[other]
            assert output in outputs["outputs"]


@pytest.mark.parametrize("name", [".github/workflows/nightly.yml", REUSABLE, "examples/workflows/matrix.yml"])
def test_arms_are_compared_only_where_all_were_measured(name):
    measure, propose = (files.jobs(name)[job] for job in ("measure", "propose"))
    # `needs` without an `if` means that all of them succeeded; `always()` or `!cancelled()` would undo that.
    assert propose["needs"] == "measure"
    assert "if" not in propose
    assert "continue-on-error" not in measure
    assert measure["strategy"]["fail-fast"] is False
    (compare,) = files.own_steps(propose)
    (download,) = [step for step in files.steps(propose) if "download-artifact" in step.get("uses", "")]
    (upload,) = [step for step in files.steps(measure) if "upload-artifact" in step.get("uses", "")]
    assert compare["with"]["measurements"] == download["with"]["path"]
    # A folder for each artifact: merged, one file could replace another of its name, and the action would not see that.
    assert "merge-multiple" not in download["with"]
    assert upload["with"]["name"].startswith(download["with"]["pattern"].removesuffix("*"))
    assert upload["with"]["if-no-files-found"] == "error"


@pytest.mark.parametrize("name", [".github/workflows/nightly.yml", REUSABLE, "examples/workflows/nightly.yml"])
def test_the_cache_is_saved_under_the_key_of_what_is_in_it(name):
    (body,) = [job for job in files.jobs(name).values() if any("cache/save" in s.get("uses", "") for s in job["steps"])]
    restore, own, save = (
        next(step for step in body["steps"] if part in step.get("uses", ""))
        for part in ("cache/restore@", files.own_steps(body)[0]["uses"], "cache/save@")
    )
    folder = own.get("with", {}).get("cache-dir", files.ACTION["inputs"]["cache-dir"]["default"])
    assert restore["with"]["path"] == save["with"]["path"] == folder
    assert save["with"]["key"] == "${{ steps.membench.outputs.cache-key }}"
    assert save["if"] == "steps.membench.outputs.cache-key != steps.cache.outputs.cache-matched-key"


def test_every_example_is_in_their_list():
    text = (files.ROOT / "examples" / "workflows" / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([^)]+)\)", text))
    assert {(files.ROOT / "examples" / "workflows" / path).resolve() for path in listed} == set(files.EXAMPLES)
