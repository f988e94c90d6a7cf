"""The action from beginning to end, in its container, without a network."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from container.engine import ROOT, Engine
from container.runner import Runner, action
from membench.corpora.catalog import find_corpus
from membench.corpora.store import corpus_path
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.store import model_path
from membench.files.paths import cache_root

pytestmark = pytest.mark.container

SAMPLE = "membench-reports/sample.now.json"


def provenance(runner: Runner, stem: str) -> dict[str, Any]:
    return json.loads((runner.workspace / f"membench-reports/{stem}.provenance.json").read_bytes())


def test_it_measures_the_same_bytes_as_the_command_does_outside(
    engine: Engine, warm_sample: Runner, default_model: Path, tmp_path: Path
):
    library = "getconf GNU_LIBC_VERSION"
    if (inside := engine.shell(library)) != (here := subprocess.check_output(library.split(), text=True)):
        pytest.skip(f"llama.cpp was compiled twice, here with {here.strip()} and in the image with {inside.strip()}")
    copy = model_path(MODELS[DEFAULT_MODEL], tmp_path / "cache")
    copy.parent.mkdir(parents=True)
    copy.symlink_to(default_model)
    command = [sys.executable, "-m", "membench", "retrieval", "sample", "--report-dir", str(tmp_path / "reports")]
    outside = {**os.environ, "MEMBENCH_CACHE": str(tmp_path / "cache")}
    subprocess.run(command, check=True, capture_output=True, env=outside)
    assert (warm_sample.workspace / SAMPLE).read_bytes() == (tmp_path / "reports/sample.now.json").read_bytes()


def test_a_second_run_embeds_nothing_and_says_the_same(warm_sample: Runner):
    first = (warm_sample.workspace / SAMPLE).read_bytes()
    result = warm_sample.run({"corpus": "sample"})
    assert result.exit_code == 0, result.log
    embedding = provenance(warm_sample, "sample.now")["embedding"]
    assert embedding["computed"] == 0
    assert embedding["cached"] > 0
    assert result.files[SAMPLE].read_bytes() == first


def test_every_output_of_the_action_is_set(warm_sample: Runner):
    result = warm_sample.run({"corpus": "sample"})
    assert set(result.outputs) == set(action()["outputs"])
    assert result.outputs["model-sha256"] == MODELS[DEFAULT_MODEL].sha256
    assert json.loads(result.files[result.outputs["comparison"]].read_bytes())
    assert result.outputs["verdict"] in result.summary.lower()


def test_nothing_is_left_that_the_next_checkout_cannot_remove(warm_sample: Runner):
    result = warm_sample.run({"corpus": "sample", "setup": "mkdir -p made/here && touch made/here/file ~/made"})
    assert result.exit_code == 0, result.log
    assert (warm_sample.home / "made").exists()
    assert warm_sample.of_another_owner() == []


def test_a_failed_setup_is_one_error_and_leaves_nothing_of_roots(runner: Runner):
    result = runner.run({"corpus": "sample", "setup": "mkdir made && touch made/file ~/made\nexit 3"})
    assert result.exit_code == 1
    (error,) = result.lines("error")
    assert "exit code 3" in error
    assert "The setup command failed: exit code 3" in result.summary
    assert "made/file" in result.files
    assert runner.of_another_owner() == []


def test_an_unknown_input_is_an_error_that_names_it_and_its_neighbour(runner: Runner):
    result = runner.run({"corpsu": "sample"})
    assert result.exit_code == 2
    (error,) = result.lines("error")
    assert "corpsu" in error
    assert "corpus?" in error
    assert "Traceback" not in result.log


def test_the_token_is_masked_and_no_command_of_the_caller_sees_it(warm_sample: Runner):
    result = warm_sample.run({"corpus": "sample", "setup": "env", "baseline-pr": "false"}, token="ghs_0123456789")
    assert result.exit_code == 0, result.log
    assert "GITHUB_WORKSPACE=/github/workspace" in result.log
    assert not [line for line in result.log.splitlines() if line.startswith(("INPUT_", "ACTIONS_"))]
    assert [line for line in result.log.splitlines() if "ghs_" in line] == ["::add-mask::ghs_0123456789"]


def test_git_works_in_the_workspace_and_no_configuration_changes(warm_sample: Runner):
    git = ["git", "-C", str(warm_sample.workspace), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    git += ["-c", f"safe.directory={warm_sample.workspace}"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "Remember more"], check=True)
    warm_sample.give_to_runner()
    configuration = warm_sample.workspace / ".git/config"
    before = configuration.read_bytes()
    setup = "git log --format=%s > told.txt\ngit status --short >> told.txt\nls ~/.gitconfig /etc/gitconfig || true"
    result = warm_sample.run({"corpus": "sample", "setup": setup})
    assert result.exit_code == 0, result.log
    assert result.files["told.txt"].read_text().startswith("Remember more\n")
    assert result.log.count("No such file or directory") == 2
    assert configuration.read_bytes() == before
    assert list(warm_sample.home.glob(".git*")) == []
    assert list(warm_sample.home.glob(".config/git/*")) == []


def test_shards_of_several_containers_are_merged_into_the_bytes_of_one(runner: Runner):
    inputs = {"corpus": "sample", "memory": "bm25"}
    assert runner.run(inputs).exit_code == 0
    for number in (1, 2):
        result = runner.run({**inputs, "shard": f"{number}/2", "report-dir": f"parts/{number}"})
        assert result.exit_code == 0, result.log
        assert set(result.outputs) == {"report-dir", "cache-key"}
        assert f"shard {number} of 2" in result.summary
    merged = runner.run({"corpus": "sample", "measurements": "parts", "report-dir": "merged"})
    assert merged.exit_code == 0, merged.log
    alone, together = (merged.files[f"{folder}/sample.now.bm25.json"] for folder in ("membench-reports", "merged"))
    assert alone.read_bytes() == together.read_bytes()
    assert runner.of_another_owner() == []


def workflow_in_readme() -> str:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "uses: membench/membench@" in block)


def test_the_workflow_of_the_readme_runs(warm_sample: Runner):
    jobs = yaml.safe_load(workflow_in_readme())["jobs"].values()
    steps = [step for job in jobs for step in job["steps"] if step.get("uses", "").startswith("membench/membench@")]
    given = {name: str(value) for name, value in steps[0].get("with", {}).items()}
    assert set(given) <= set(action()["inputs"])
    result = warm_sample.run({**given, "corpus": "sample"})
    assert result.exit_code == 0, result.log
    assert "membench" in result.summary


def test_both_arms_of_locomo_with_a_warm_cache(
    runner: Runner, warm_sample: Runner, locomo_file: Path, capsys: pytest.CaptureFixture[str]
):
    cache = runner.workspace / ".membench-cache"
    copy = corpus_path(find_corpus("locomo10"), cache)
    copy.parent.mkdir(parents=True)
    shutil.copy(locomo_file, copy)
    # To embed all of it takes minutes, and what counts is the second run: vectors that are known here are taken over.
    (vectors,) = (warm_sample.workspace / ".membench-cache/vectors").glob("*.sqlite")
    kept = cache_root() / "container" / vectors.name
    known = next((path for path in (kept, cache_root() / "vectors" / vectors.name) if path.is_file()), vectors)
    (cache / "vectors").mkdir()
    shutil.copy(known, cache / "vectors")
    runner.give_to_runner()
    inputs = {"timelines": "now anchored"}
    first = runner.run(inputs)
    assert first.exit_code == 0, first.log
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(cache / "vectors" / vectors.name, kept)
    measured = {arm: first.files[f"membench-reports/locomo10.{arm}.json"].read_bytes() for arm in ("now", "anchored")}

    second = runner.run(inputs)
    assert second.exit_code == 0, second.log
    for arm, body in measured.items():
        assert second.files[f"membench-reports/locomo10.{arm}.json"].read_bytes() == body
        assert provenance(runner, f"locomo10.{arm}")["embedding"]["computed"] == 0
    with capsys.disabled():
        print(f"\nLoCoMo, both arms, every vector cached: {second.seconds:.1f} s, the whole container")
