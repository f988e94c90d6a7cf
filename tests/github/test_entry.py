"""The process that the container runs: what it prints, writes and exits with."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from nights import read_outputs

from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path
from membench.files.paths import cache_root

ROOT = Path(__file__).parents[2]
DEFAULTS = {
    name: "" if str(given["default"]).startswith("${{") else str(given["default"])
    for name, given in yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"].items()
}
SMALL = {"corpus": "sample", "memory": "bm25", "instances": "1"}


class Runner:
    """Starts the action as the runner does, without a container."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.output, self.summary = workspace.parent / "output", workspace.parent / "summary.md"

    def start(self, env=None, **inputs) -> subprocess.Popen[str]:
        for path in (self.output, self.summary):
            path.write_text("")
        given = DEFAULTS | {name.replace("_", "-"): value for name, value in inputs.items()}
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.workspace.parent),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_REPOSITORY": "acme/memory",
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_SHA": "0" * 40,
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            **(env or {}),
        }
        return subprocess.Popen(
            [sys.executable, str(ROOT / "entrypoint.py")],
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, env=None, **inputs) -> tuple[int, str, dict[str, str]]:
        process = self.start(env, **inputs)
        log, _ = process.communicate(timeout=120)
        return process.returncode, log, read_outputs(self.output)


@pytest.fixture
def runner(tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Runner(workspace)


def errors(log):
    return [line for line in log.splitlines() if line.startswith("::error")]


def test_two_nights_of_two_arms(runner):
    asked = SMALL | {"timelines": "now anchored"}
    code, log, outputs = runner.run(**asked)
    reports = runner.workspace / "membench-reports"
    assert (code, errors(log)) == (0, []), log
    assert outputs["verdict"] == "not comparable"
    assert outputs["pull-request-operation"] == "none"
    assert "no baseline of this name yet" in log
    provenance = json.loads((reports / "sample.now.instances-1.bm25.provenance.json").read_bytes())
    assert provenance["source"] == {"repository": "acme/memory", "commit": "0" * 40, "run": None}
    assert "memory=bm25" in provenance["command"]
    assert "there is no token" in runner.summary.read_text()
    stems = ["sample.now.instances-1.bm25", "sample.anchored.instances-1.bm25"]
    measurement = json.loads((reports / f"{stems[0]}.json").read_bytes())
    assert float(outputs["headline"]) == measurement["metrics"]["session"]["recall_all"]["5"]["value"]
    assert (outputs["headline-delta"], outputs["measured-queries"]) == ("", str(measurement["counts"]["scored"]))
    assert outputs["report-dir"] == "membench-reports"
    assert json.loads((runner.workspace / outputs["comparison"]).read_bytes())["schema"] == "membench.comparisons/1"
    endings = ("json", "md", "provenance.json", "rankings.jsonl.gz", "comparison.json", "comparison.md")
    assert {path.name for path in reports.iterdir()} == {"comparisons.json"} | {
        f"{stem}.{ending}" for stem in stems for ending in endings
    }
    assert log.count("::group::") == log.count("::endgroup::") == 3

    (runner.workspace / "baselines").mkdir()
    for stem in stems:
        shutil.copy(reports / f"{stem}.json", runner.workspace / "baselines")
    code, log, again = runner.run(**asked)
    assert (code, again["verdict"], float(again["headline-delta"])) == (0, "unchanged", 0.0), log
    assert again["cache-key"] == outputs["cache-key"]


@pytest.mark.slow
def test_a_second_night_fetches_and_embeds_nothing(runner, default_model, tmp_path):
    bundled = tmp_path / "bundled"
    target = model_path(MODELS[DEFAULT_MODEL], bundled)
    target.parent.mkdir(parents=True)
    os.link(default_model, target) if default_model.stat().st_dev == tmp_path.stat().st_dev else shutil.copy(
        default_model, target
    )
    asked = {"corpus": "sample", "instances": "1", "env": {"MEMBENCH_BUNDLED": str(bundled)}}
    code, log, first = runner.run(**asked)
    assert code == 0, log
    assert "not in the cache" in log
    provenance = runner.workspace / "membench-reports" / "sample.now.instances-1.provenance.json"
    assert json.loads(provenance.read_bytes())["embedding"]["computed"] > 0
    # Whatever was bundled is not needed again; and a truncated copy is noticed, and replaced.
    code, log, second = runner.run(**asked | {"env": {}})
    assert (code, "fetching" in log) == (0, False), log
    embedding = json.loads(provenance.read_bytes())["embedding"]
    assert (embedding["computed"], embedding["cached"] > 0) == (0, True)
    assert second["cache-key"] == first["cache-key"]
    assert first["model-sha256"] == MODELS[DEFAULT_MODEL].sha256
    cached = model_path(MODELS[DEFAULT_MODEL], runner.workspace / ".membench-cache")
    cached.write_bytes(cached.read_bytes()[:1000])
    code, log, third = runner.run(**asked)
    assert (code, "was damaged and has been removed" in log, third) == (0, True, second), log


@pytest.mark.parametrize(
    ("inputs", "exit_code", "said"),
    [
        ({"corpus": "locomo11"}, 2, "Did you mean locomo10"),
        ({"timeline": "now"}, 2, "Did you mean timelines"),
        ({"baseline_pr": "maybe"}, 2, "expected true or false"),
        ({"memory": "mem1"}, 2, "There is no memory"),
        ({"memory_options": "k9=1"}, 2, "has no option"),
        ({"shard": "1/2", "measurements": "absent"}, 2, "inputs shard and measurements"),
        ({"shard": "1/2", "pool": "shared"}, 2, "inputs shard and pool"),
        ({"shard": "1/2"}, 2, "2 shards of 1 instances"),
        ({"measurements": "absent"}, 2, "there is no such folder"),
        ({"templates": "absent"}, 2, "is not there"),
        ({"setup": "echo preparing; exit 3"}, 1, "exit code 3"),
        ({"corpus": "own.json", "format": "locomo"}, 1, "own.json"),
        ({"model": "m.gguf", "memory": "episodic"}, 1, "m.gguf is not a GGUF"),
        ({"report_dir": "taken"}, 1, "taken"),
    ],
)
def test_what_fails_is_one_annotation_and_in_the_summary(runner, inputs, exit_code, said):
    (runner.workspace / "own.json").write_text("[{}]")
    (runner.workspace / "m.gguf").write_text("no model")
    (runner.workspace / "taken").write_text("a file")
    code, log, _ = runner.run(**SMALL | inputs)
    assert code == exit_code, log
    (error,) = errors(log)
    assert said in error
    assert "Traceback" not in log
    summary = runner.summary.read_text()
    assert ("the instrument broke" if code == 1 else "an input cannot be used") in summary
    assert "Nothing was compared and nothing is proposed" in summary


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"GITHUB_EVENT_NAME": "pull_request"}, "of the event pull_request"),
        ({"GITHUB_EVENT_NAME": "pull_request_target"}, "of the event pull_request_target"),
        ({"GITHUB_EVENT_NAME": "workflow_run"}, "of the event workflow_run"),
        ({"GITHUB_REF": "refs/tags/v1"}, "not of a branch"),
        ({"GITHUB_REPOSITORY": ""}, "not a run of GitHub Actions"),
        ({"GITHUB_EVENT_PATH": "fork.json"}, "is a fork"),
    ],
)
def test_where_nothing_may_be_proposed_nothing_is_asked_of_github(runner, environment, said):
    (runner.workspace / "fork.json").write_text('{"repository": {"fork": true}}')
    # A port that nobody listens on: had it been asked, the summary would say that it did not answer.
    environment = {"GITHUB_API_URL": "http://127.0.0.1:9", **environment}
    code, log, outputs = runner.run(environment, **SMALL | {"github_token": "sekret"})
    assert (code, outputs["pull-request-operation"], errors(log)) == (0, "none", []), log
    summary = runner.summary.read_text()
    assert said in summary
    assert "did not answer" not in summary


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\x01", b"[]", b'{"schema": "membench.measurement/1"}', b"null"])
def test_a_baseline_that_cannot_be_read_is_breakage(runner, content):
    baseline = runner.workspace / "baselines" / "sample.now.instances-1.bm25.json"
    baseline.parent.mkdir()
    baseline.write_bytes(content)
    code, log, _ = runner.run(**SMALL)
    assert (code, len(errors(log))) == (1, 1), log
    assert baseline.name in errors(log)[0]


def test_a_baseline_of_an_older_schema_is_no_failure(runner):
    baseline = runner.workspace / "baselines" / "sample.now.instances-1.bm25.json"
    baseline.parent.mkdir()
    baseline.write_text('{"schema": "membench.measurement/0"}')
    code, log, outputs = runner.run(**SMALL)
    assert (code, outputs["verdict"]) == (0, "not comparable"), log
    assert "older schema" in runner.summary.read_text()


def test_the_token_is_masked_and_reaches_neither_setup_nor_log(runner):
    setup = "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; id"
    code, log, _ = runner.run(
        {"ACTIONS_RUNTIME_TOKEN": "sekret"},
        **SMALL | {"github_token": "sekret", "baseline_pr": "false", "setup": setup},
    )
    assert code == 0, log
    lines = log.splitlines()
    assert lines[0] == "::add-mask::sekret"
    assert not [line for line in lines[1:] if "sekret" in line]
    assert "GIT_CONFIG_KEY_0=safe.directory" in lines
    assert not [line for line in lines if line.startswith(("INPUT_", "ACTIONS_", "GITHUB_OUTPUT"))]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_run_ends_at_once_and_leaves_no_half_written_file(runner, stop):
    process = runner.start(**SMALL | {"setup": "touch begun; sleep 60"})
    deadline = time.monotonic() + 60
    while not (runner.workspace / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(stop)
    log, _ = process.communicate(timeout=7)
    assert process.returncode == 128 + stop, log
    assert errors(log) == []
    assert not [path for path in runner.workspace.rglob("*") if path.name.startswith(".membench-") and path.is_file()]


def test_measurements_of_earlier_jobs_are_compared_and_not_made_again(runner):
    assert runner.run(**SMALL | {"timelines": "now"})[0] == 0
    assert runner.run(**SMALL | {"timelines": "anchored", "report_dir": "other"})[0] == 0
    for number, name in enumerate(("membench-reports", "other")):
        shutil.copytree(runner.workspace / name, runner.workspace / "all" / f"job-{number}")
    code, log, outputs = runner.run(corpus="sample", measurements="all", report_dir="compared")
    assert code == 0, log
    arms = json.loads((runner.workspace / outputs["comparison"]).read_bytes())["arms"]
    assert [arm["candidate"]["stem"] for arm in arms] == [
        "sample.now.instances-1.bm25",
        "sample.anchored.instances-1.bm25",
    ]
    path = runner.workspace / "all" / "job-1" / "sample.anchored.instances-1.bm25.json"
    path.write_text(path.read_text().replace("anchored.instances-1", "now.instances-1"))
    code, log, _ = runner.run(corpus="sample", measurements="all")
    assert (code, "different measurements" in errors(log)[0]) == (1, True)


def test_a_missing_shard_breaks_the_run_and_is_named(runner):
    asked = SMALL | {"instances": "2", "shard": "1/2", "report_dir": "parts/job-1"}
    code, log, outputs = runner.run(**asked)
    assert (code, set(outputs)) == (0, {"report-dir", "cache-key"}), log
    assert "shard 1 of 2" in runner.summary.read_text()
    code, log, outputs = runner.run(corpus="sample", measurements="parts")
    assert (code, outputs) == (1, {"report-dir": "membench-reports"}), log
    (error,) = errors(log)
    assert error.startswith("::error title=membench%3A the instrument broke::")
    assert "sample.now.instances-2.bm25: shard 2/2 missing" in error
    assert "shard 2/2 missing" in runner.summary.read_text()


def test_the_cache_folder_is_the_one_that_is_named_and_no_other(runner):
    assert runner.run(**SMALL | {"cache_dir": "elsewhere/cache"})[0] == 0
    assert (runner.workspace / "elsewhere" / "cache").is_dir()
    assert not (runner.workspace.parent / ".cache").exists()
    assert cache_root() != runner.workspace
