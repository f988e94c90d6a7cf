"""The workflows of this repository and its examples, as their YAML says them."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.yml"))
EVERY = WORKFLOWS + EXAMPLES
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
# Our action: of the workflow's own commit, of the workspace, or by its name.
OWN = re.compile(r"\$/\.|\./|membench/membench@\S+")
CALLED = "membench/membench/.github/workflows/measure.yml@"


def named(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def load(name):
    workflow = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as true.
    workflow["on"] = workflow.pop(True)
    return workflow


def jobs(name):
    return load(name)["jobs"]


def steps(job):
    return job.get("steps", [])


def own_steps(job):
    return [step for step in steps(job) if OWN.fullmatch(step.get("uses", ""))]


def proposes(step):
    return str(step.get("with", {}).get("baseline-pr", ACTION["inputs"]["baseline-pr"]["default"])) != "false"


def strings(node):
    """Every string in a part of a workflow."""
    if isinstance(node, dict):
        for value in node.values():
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)
    elif isinstance(node, str):
        yield node
