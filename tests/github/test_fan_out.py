"""The reusable workflow, its jobs played one after another as its file has them: shared out over several jobs or not,
the same is proposed.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from github_server.fixtures import checked_hub
from nights import HURRIED, Nights

from membench.github.proposal import repository
from membench.runs import retrieval

WORKFLOW = yaml.safe_load((Path(__file__).parents[2] / ".github/workflows/measure.yml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
# YAML 1.1 reads the key `on` as true.
DEFAULTS = {name: one["default"] for name, one in WORKFLOW[True]["workflow_call"]["inputs"].items()}


def step(job, uses, name=""):
    (found,) = [one for one in JOBS[job]["steps"] if one["uses"].startswith(uses) and one["name"].startswith(name)]
    return found


def valued(text, **contexts):
    """``text`` with the value of each expression, which is a path such as `matrix.part.shard`."""

    def value(match):
        found = contexts
        for name in match[1].split("."):
            found = found[name]
        return str(found).lower() if isinstance(found, bool) else str(found)

    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, str(text))


def shared_out(folder, shards):
    """What the first job's shell comes to: its exit code, its log, its outputs."""
    (listing,) = JOBS["plan"]["steps"]
    folder.mkdir(exist_ok=True)
    output = folder / "output"
    output.write_text("")
    env = {"PATH": os.environ["PATH"], "SHARDS": str(shards), "GITHUB_OUTPUT": str(output)}
    # As the runner starts a script that names no shell.
    run = subprocess.run(["bash", "-e", "-c", listing["run"]], env=env, capture_output=True, text=True)
    return run.returncode, run.stdout, dict(line.split("=", 1) for line in output.read_text().splitlines())


@pytest.mark.parametrize(
    ("shards", "first", "last"),
    [
        (1, {"shard": "", "suffix": ""}, {"shard": "", "suffix": ""}),
        (2, {"shard": "1/2", "suffix": ".shard-1-of-2"}, {"shard": "2/2", "suffix": ".shard-2-of-2"}),
        (256, {"shard": "1/256", "suffix": ".shard-1-of-256"}, {"shard": "256/256", "suffix": ".shard-256-of-256"}),
    ],
)
def test_the_list_has_a_part_for_each_shard(tmp_path, shards, first, last):
    code, log, outputs = shared_out(tmp_path, shards)
    assert (code, log, set(outputs)) == (0, "", {"parts"})
    parts = json.loads(outputs["parts"])
    assert (len(parts), parts[0], parts[-1]) == (shards, first, last)


@pytest.mark.parametrize("shards", ["0", "-1", "2.5", "257", "1000", "", "two", "1e2"])
def test_a_number_of_shards_that_cannot_be_is_one_error_that_says_what_can(tmp_path, shards):
    code, log, outputs = shared_out(tmp_path, shards)
    assert (code, outputs) == (2, {})
    assert log.startswith("::error title=membench%3A an input cannot be used::The input shards is ")
    assert log.count("\n") == 1
    assert "from 1 to 256" in log


@dataclass
class Played:
    """One run of the workflow: what the jobs that measured left, and what was proposed."""

    legs: dict[str, dict[str, str]] = field(default_factory=dict)
    """The outputs of each, by the name of its artifact."""
    restored: dict[str, str] = field(default_factory=dict)
    """How the key begins that it restores its cache from, by the same."""
    unfinished: dict[str, str] = field(default_factory=dict)
    """How that of an attempt begins that did not end, by the same."""
    kept: dict[str, str] = field(default_factory=dict)
    """The key under which it keeps what is finished when it does not end, by the same."""
    artifacts: dict[str, bytes] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)
    proposed: dict[str, bytes] = field(default_factory=dict)
    proposal: dict[str, str] = field(default_factory=dict)
    reports: dict[str, bytes] = field(default_factory=dict)


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def play(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(repository, "PATIENCE", HURRIED)

    def play(name, **given):
        inputs = DEFAULTS | given
        found = Played()
        _, _, planned = shared_out(tmp_path / name, inputs["shards"])
        with checked_hub(tmp_path / name / "hub") as hub:
            nights = Nights(hub, tmp_path / name, capsys)
            for timeline in json.loads(inputs["timelines"]):
                for part in json.loads(planned["parts"]):
                    _measure(nights, found, inputs, {"timeline": timeline, "part": part})
            compare = step("propose", "$/.")
            fetch = step("propose", "actions/download-artifact@")["with"]
            wanted = valued(fetch["pattern"], inputs=inputs).removesuffix("*")
            night = nights.night(
                files={
                    f"{fetch['path']}/{file}": body for file, body in found.artifacts.items() if file.startswith(wanted)
                },
                **{name: valued(value, inputs=inputs) for name, value in compare["with"].items()}
                | {"github-token": hub.token},
            )
            found.proposal = night.outputs
            found.reports = files_below(night.workspace / night.outputs["report-dir"])
            for arm in json.loads(found.reports["comparisons.json"])["arms"]:
                name = f"{arm['candidate']['stem']}.json"
                found.proposed[name] = hub.file(inputs["baseline-branch"], f"{inputs['baseline-dir']}/{name}")
        return found

    return play


def _measure(nights, found, inputs, matrix):
    given = {
        name: valued(value, inputs=inputs, matrix=matrix) for name, value in step("measure", "$/.")["with"].items()
    }
    asked = len(nights.hub.requests)
    night = nights.night(**{"measurements": "", **given})
    assert len(nights.hub.requests) == asked
    contexts = {
        "inputs": inputs,
        "matrix": matrix,
        "github": {"run_id": 7, "run_attempt": 1},
        "steps": {"membench": {"outputs": night.outputs}},
    }
    kept = step("measure", "actions/upload-artifact@")["with"]
    name = valued(kept["name"], **contexts)
    assert name not in found.legs
    found.legs[name] = night.outputs
    restored = valued(step("measure", "actions/cache/restore@")["with"]["restore-keys"], **contexts)
    found.unfinished[name], found.restored[name] = restored.split()
    found.kept[name] = valued(
        step("measure", "actions/cache/save@", "Keep what is finished")["with"]["key"], **contexts
    )
    found.summaries.append(night.summary)
    # A folder for each artifact, as download-artifact lays them out.
    below = files_below(night.workspace / valued(kept["path"], **contexts))
    found.artifacts |= {f"{name}/{file}": body for file, body in below.items()}


def test_what_is_shared_out_is_proposed_as_if_one_job_had_measured_it(play):
    asked = {"corpus": "sample", "memory": "bm25", "timelines": '["now", "anchored"]'}
    alone, shared = play("alone", **asked), play("shared", **asked, shards=3)

    names = ["sample.anchored.bm25.json", "sample.now.bm25.json"]
    assert sorted(alone.proposed) == names
    assert None not in alone.proposed.values()
    assert shared.proposed == alone.proposed
    assert alone.proposal["pull-request-operation"] == shared.proposal["pull-request-operation"] == "created"
    same = {"verdict", "measured-queries", "headline", "pull-request-number", "model-sha256"}
    assert {name: shared.proposal[name] for name in same} == {name: alone.proposal[name] for name in same}

    # With one shard nothing differs from a workflow that knows none.
    assert set(alone.legs) == {"membench-measured-now", "membench-measured-anchored"}
    assert set(alone.restored.values()) == {"membench-"}
    assert "shard" not in " ".join([*alone.artifacts, *alone.summaries])

    assert len(shared.legs) == 6
    assert set(shared.artifacts) == {
        f"membench-measured-{timeline}.shard-{n}-of-3/sample.{timeline}.bm25.shard-{n}-of-3.json"
        for timeline in ("now", "anchored")
        for n in (1, 2, 3)
    }
    for name, outputs in shared.legs.items():
        assert set(outputs) == {"report-dir", "cache-key"}
        # A job finds the cache that the same job has saved, and none of another shard's, nor of the whole corpus.
        found = {other for other, prefix in shared.restored.items() if outputs["cache-key"].startswith(prefix)}
        assert found == {other for other in shared.legs if other.endswith(name[-len(".shard-1-of-3") :])}
        assert not outputs["cache-key"].startswith("membench-")
    assert all("nothing is compared and nothing is proposed" in summary for summary in shared.summaries)

    # An attempt that did not end is gone on with by the same job of the same run, and by no other.
    for name, prefix in shared.unfinished.items():
        assert [other for other, key in shared.kept.items() if key.startswith(prefix)] == [name]

    # What was merged is told like what was measured.
    for name in names:
        stem = name.removesuffix(".json")
        assert shared.reports[name] == alone.proposed[name]
        assert {f"{stem}.md", f"{stem}.rankings.jsonl.gz", f"{stem}.comparison.md"} <= set(shared.reports)
        provenance = json.loads(shared.reports[f"{stem}.provenance.json"])
        assert [one["shard"] for one in provenance["shards"]] == ["1/3", "2/3", "3/3"]
        assert provenance["source"]["repository"] == "acme/memory"
        ranked = next(body for file, body in alone.artifacts.items() if file.endswith(f"{stem}.rankings.jsonl.gz"))
        assert shared.reports[f"{stem}.rankings.jsonl.gz"] == ranked


def test_a_shard_is_measured_and_nothing_else_even_where_it_might_be_proposed(hub, tmp_path, capsys):
    night = Nights(hub, tmp_path, capsys).night(measurements="", memory="bm25", shard="2/3", baseline_pr="true")
    assert (hub.requests, set(night.outputs)) == ([], {"report-dir", "cache-key"})
    (path,) = (night.workspace / night.outputs["report-dir"]).iterdir()
    parts = json.loads(path.read_bytes())["body"]["parts"]
    queries = sum(len(part["findings"]["queries"]) for part in parts)
    assert night.summary.startswith("# membench: shard 2 of 3\n")
    assert f"sample.now.bm25: {len(parts)} of 9 instances, {queries} queries scored" in night.summary
    assert "The job whose input measurements is a folder with all 3 merges them" in night.summary
    assert "::error" not in night.log


def test_what_a_killed_job_had_finished_is_gone_on_with_from_its_cache(hub, tmp_path, capsys, monkeypatch):
    nights = Nights(hub, tmp_path, capsys)
    asked = {"measurements": "", "memory": "bm25", "shard": "2/3"}

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(retrieval, "write_atomic", killed)
        with pytest.raises(KeyboardInterrupt):
            nights.night(**asked)
    cache = tmp_path / "night-1" / ".membench-cache"
    # The condition under which the workflow keeps it.
    (pattern,) = re.findall(
        r"hashFiles\('(.+?)'\)", step("measure", "actions/cache/save@", "Keep what is finished")["if"]
    )
    assert list((tmp_path / "night-1").glob(pattern))

    night = nights.night(files={f".membench-cache/{name}": body for name, body in files_below(cache).items()}, **asked)
    (path,) = (night.workspace / night.outputs["report-dir"]).iterdir()
    shard = json.loads(path.read_bytes())
    assert shard["run"]["resumed"] == len(shard["body"]["parts"]) > 0
    assert f"{len(shard['body']['parts'])} of them by a run that did not end" in night.summary
    assert not list(night.workspace.glob(pattern))
