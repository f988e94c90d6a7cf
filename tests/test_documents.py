"""What the documents show is what the program does."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from membench.cli.app import app
from membench.corpora.corpus import Reading, open_corpus
from membench.files.paths import cache_root

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def indented(text):
    return [line[4:].rstrip() for line in text.splitlines() if line.startswith("    ")]


def test_the_example_of_the_corpus_format_is_a_corpus(tmp_path):
    document = json.loads("\n".join(indented((ROOT / "docs" / "corpus-format.md").read_text(encoding="utf-8"))))
    path = tmp_path / "own.json"
    path.write_text(json.dumps(document))
    survey = open_corpus(str(path), tmp_path, Reading(), "membench").survey
    assert (survey.instances, survey.sessions, survey.turns, survey.scorable) == (1, 2, 3, 1)
    assert survey.has_distractors


@pytest.mark.parametrize("verb", ["list", "fetch", "retrieval", "compare", "check-memory", "schema", "action"])
def test_every_verb_is_in_the_readme(verb):
    assert re.search(rf"membench {verb}\b", README)


def test_every_option_of_retrieval_is_in_the_readme_and_the_other_way_round():
    command = typer.main.get_command(app).commands["retrieval"]
    options = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    section = README.split("## Options of `membench retrieval`")[1].split("\n## ")[0]
    named = set(re.findall(r"`(--[a-z-]+)", section))
    assert named == options - {"--help", "--format", "--as-of"}
    assert {"--format", "--as-of"} <= set(re.findall(r"--[a-z-]+", README))


@pytest.mark.slow
def test_the_readme_shows_what_make_bench_prints(tmp_path, default_model):
    command = [sys.executable, "-m", "membench", "retrieval", "sample", "--timeline", "now", "--timeline", "anchored"]
    environment = {**os.environ, "MEMBENCH_CACHE": str(cache_root())}
    run = subprocess.run(
        [*command, "--report-dir", "reports"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    shown = indented(README)
    printed = [line.rstrip() for line in run.stdout.splitlines() if line.strip() and not line.startswith("ingest")]
    assert [line for line in printed if line not in shown] == []


def test_the_memory_of_the_readme_is_measured_with_one_command(tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert example in (ROOT / "docs" / "own-memory.md").read_text(encoding="utf-8")
    assert len([line for line in example.splitlines() if line.strip()]) <= 15
    (tmp_path / "my_memory.py").write_text(example)
    for arguments in (["retrieval", "sample", "--instances", "1"], ["check-memory"]):
        spec = ["--memory", "my_memory.py:Memory"] if arguments[0] == "retrieval" else ["my_memory.py:Memory"]
        command = [sys.executable, "-m", "membench", *arguments, *spec]
        environment = {**os.environ, "MEMBENCH_CACHE": str(tmp_path / "cache")}
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    measurement = json.loads((tmp_path / "reports" / "sample.now.instances-1.words.json").read_bytes())
    assert measurement["status"] == "clean"
    assert measurement["metrics"]["session"]["recall_any"]["5"]["value"] > 0.3
