"""A name for what a cache folder holds, so that a workflow stores it again only when there is something new in it."""

import hashlib
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from membench.corpora.shards import Shard
from membench.files.paths import corpora_dir, models_dir, vectors_dir


def cache_key(root: Path, model_sha256: str | None, shard: Shard | None = None) -> str:
    """`membench-<machine>-<model>-<content>`: equal for equal models, corpora and sets of embedded texts.

    That of a shard begins with `membench.shard-<number>-of-<of>-`: by this a job finds the vectors of its own shard
    again, and no other job takes them for those of the whole corpus.

    The content is told by file names and sizes, which the store checks by SHA-256 before every use, and by the keys of
    the vectors, each file of which is named after its vector space.
    """
    digest = hashlib.sha256()
    for line in _contents(root):
        digest.update(line)
    prefix = "membench" if shard is None else f"membench.shard-{shard.number}-of-{shard.of}"
    return f"{prefix}-{platform.machine()}-{(model_sha256 or 'none')[:16]}-{digest.hexdigest()[:32]}"


def _contents(root: Path) -> Iterator[bytes]:
    for folder in (models_dir(root), corpora_dir(root)):
        for path in sorted(folder.glob("[!.]*")):
            yield f"{path.name} {path.stat().st_size}\n".encode()
    for path in sorted(vectors_dir(root).glob("*.sqlite")):
        yield f"{path.name}\n".encode()
        try:
            with closing(sqlite3.connect(path)) as connection:
                yield from (bytes(row[0]) for row in connection.execute("SELECT text FROM vectors ORDER BY text"))
        except (sqlite3.Error, TypeError):
            # A damaged file is thrown away by the next run: until then it is as good as empty.
            continue
