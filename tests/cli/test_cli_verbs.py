"""The other verbs, and what every verb has."""

import json
from pathlib import Path

import pytest

from membench import __version__
from membench.cli.app import app
from membench.corpora.catalog import CORPORA
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.memories.catalog import SETTINGS
from membench.reports.comparison import Comparison, Comparisons
from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance

VERBS = [command.name for command in app.registered_commands]
SCHEMAS = Path(__file__).parents[2] / "schemas"
PUBLISHED = {
    "measurement": Measurement,
    "provenance": Provenance,
    "comparison": Comparison,
    "comparisons": Comparisons,
}


@pytest.fixture(scope="module")
def shown(new_command):
    command = new_command()
    asked = {
        "list": ("list",),
        "list --json": ("list", "--json"),
        "--version": ("--version",),
        "--help": ("--help",),
        **{f"{verb} --help": (verb, "--help") for verb in VERBS},
        **{f"schema {name}": ("schema", name) for name in PUBLISHED},
    }
    finished = dict(zip(asked, command.all(list(asked.values())), strict=True))
    for name, one in finished.items():
        assert (one.returncode, one.stderr) == (0, ""), name
    return command, finished


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_has_an_example(verb, shown):
    assert f"Example: membench {verb}" in shown[1][f"{verb} --help"].stdout
    assert verb in shown[1]["--help"].stdout


def test_the_version_is_printed(shown):
    assert shown[1]["--version"].stdout == f"membench {__version__}\n"


def test_the_list_shows_every_key_and_what_is_cached(shown):
    command, finished = shown
    text = finished["list"].stdout
    for key in (*CORPORA, *MODELS, *SETTINGS):
        assert key in text
    assert str(command.cache) in text
    cached = {
        line.split()[0]: " yes " in line for line in text.splitlines() if line.split()[:1] and " no " in line + " "
    }
    assert "locomo10" in cached
    (default,) = [line for line in text.splitlines() if line.startswith(DEFAULT_MODEL)]
    assert " yes " in default
    assert "score_decimals=4" in text
    assert "mmr=on" in text


def test_the_list_as_json_is_the_catalogs(shown):
    command, finished = shown
    listed = json.loads(finished["list --json"].stdout)
    assert listed["cache"] == str(command.cache)
    assert {pin["key"]: pin["sha256"] for pin in listed["corpora"]} == {k: pin.sha256 for k, pin in CORPORA.items()}
    assert {pin["key"]: pin["sha256"] for pin in listed["models"]} == {k: pin.sha256 for k, pin in MODELS.items()}
    assert {pin["key"] for pin in (*listed["corpora"], *listed["models"]) if pin["cached"]} == {"sample", DEFAULT_MODEL}
    assert {one["key"]: one["options"] for one in listed["memories"]} == {
        key: settings().model_dump() for key, settings in SETTINGS.items()
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_schema_is_of_the_file_that_is_written(name, shown):
    schema = json.loads(shown[1][f"schema {name}"].stdout)
    assert schema["properties"]["schema"]["const"] == f"membench.{name}/1"
    assert schema["additionalProperties"] is False
    written = {field.alias or key for key, field in PUBLISHED[name].model_fields.items()}
    assert set(schema["properties"]) == written


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_schema_is_the_published_one(name, shown):
    published = SCHEMAS / f"{name}.json"
    if not published.is_file():
        pytest.skip(f"{published} is not there; write it with: make schema")
    assert published.read_text() == shown[1][f"schema {name}"].stdout
