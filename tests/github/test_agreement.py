"""`action.yml`, the code and the README say the same of every input and output."""

import re
from pathlib import Path

import pytest
import yaml

from membench.github.inputs import Inputs, read_inputs

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table(heading):
    """The rows of the first table under ``heading``, each the text of its cells."""
    section = README.split(f"\n{heading}\n")[1].split("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_the_inputs_are_those_that_the_code_reads():
    assert list(ACTION["inputs"]) == [field.alias for field in Inputs.model_fields.values()]


def test_the_defaults_are_those_of_the_code(tmp_path):
    given = {name: str(one["default"]) for name, one in ACTION["inputs"].items() if name != "github-token"}
    assert read_inputs({f"INPUT_{name.upper()}": value for name, value in given.items()}, tmp_path) == Inputs()
    assert ACTION["inputs"]["github-token"]["default"] == "${{ github.token }}"


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_every_one_is_documented(kind):
    for name, one in ACTION[kind].items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert one["description"].endswith(".")
        assert "required" not in one


def test_the_outputs_are_those_that_the_code_sets():
    action = (ROOT / "membench" / "github" / "action.py").read_text(encoding="utf-8")
    assert set(re.findall(r'^ +"([a-z0-9-]+)": ', action, re.MULTILINE)) | {"report-dir"} == set(ACTION["outputs"])


@pytest.mark.parametrize(("heading", "kind"), [("### Inputs", "inputs"), ("### Outputs", "outputs")])
def test_the_tables_of_the_readme_have_every_one_and_no_other(heading, kind):
    assert [row[0].strip("`") for row in table(heading)] == list(ACTION[kind])


def test_the_readme_gives_the_defaults():
    shown = {row[0].strip("`"): row[1].strip("`") for row in table("### Inputs")}
    defaults = {name: str(one["default"]) for name, one in ACTION["inputs"].items()}
    assert shown == defaults | {"github-token": "the job's own"}
