"""Where things that can be fetched or computed again are kept."""

import os
from pathlib import Path

from platformdirs import user_cache_path

CACHE_VARIABLE = "MEMBENCH_CACHE"


def cache_root() -> Path:
    """Return the cache folder: ``MEMBENCH_CACHE`` when it is set and not empty, else the user's cache folder.

    The path is absolute; the folder need not exist.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return user_cache_path("membench", appauthor=False)


def models_dir(root: Path) -> Path:
    """Return the folder of the embedding models below a cache folder."""
    return root / "models"


def corpora_dir(root: Path) -> Path:
    """Return the folder of the corpora below a cache folder."""
    return root / "corpora"


def vectors_dir(root: Path) -> Path:
    """Return the folder of the cached vectors below a cache folder."""
    return root / "vectors"


def unfinished_dir(root: Path) -> Path:
    """Return the folder of what runs that did not end have measured, below a cache folder."""
    return root / "unfinished"
