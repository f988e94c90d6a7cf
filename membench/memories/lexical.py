"""BM25 (Robertson and Zaragoza, 2009) by bm25s: a memory that matches words, to compare the others with."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Annotated, Any

import numpy as np
import snowballstemmer
from pydantic import Field

from membench.memories.options import Settings, Switch
from membench.memories.protocol import Description, Hit, Receipt, Unit

_STEMMER = snowballstemmer.stemmer("english")


class LexicalSettings(Settings):
    """``k1`` and ``b`` as in the formula; ``stemming`` reduces English words to their stems (Snowball)."""

    k1: Annotated[float, Field(ge=0.0)] = 1.5
    b: Annotated[float, Field(ge=0.0, le=1.0)] = 0.75
    stemming: Switch = True


class LexicalMemory:
    """A `Memory` without vectors or a sense of time."""

    def __init__(self, settings: LexicalSettings) -> None:
        self._settings = settings

    def describe(self) -> Description:
        """Name, version, library, and every option in force."""
        return Description("bm25", "1", f"bm25s {version('bm25s')}", self._settings.model_dump())

    def open(self, pool: str) -> "LexicalStore":
        """An empty store; ``pool`` names nothing on disk."""
        del pool
        return LexicalStore(self._settings)


class LexicalStore:
    """A `Store` that indexes what was written when it is first searched."""

    def __init__(self, settings: LexicalSettings) -> None:
        self._settings = settings
        self._units: list[Unit] = []
        self._stem = _stem if settings.stemming else str
        self._index: Any = None

    def write(self, units: Sequence[Unit]) -> list[Receipt]:
        """Stores every unit. One without a word is no document: no query finds it, no average length is of it."""
        self._units += [unit for unit in units if _words(unit.text)]
        self._index = None
        return [Receipt("stored") for _ in units]

    def search(self, query: str, limit: int, as_of: datetime | None) -> list[Hit]:
        """The units that share a word with ``query``; ``as_of`` makes no difference."""
        del as_of
        if not self._units:
            return []
        if self._index is None:
            self._index = self._build()
        # bm25s cannot score a query of which it knows no word.
        known = [word for word in self._terms(query) if word in self._index.vocab_dict]
        if not known:
            return []
        score = self._index.get_scores(known)
        order = np.argsort(-score, kind="stable")[:limit]
        return [Hit(float(score[place]), self._units[place].id) for place in order if score[place] > 0.0]

    def close(self) -> None:
        """Lets go of everything."""
        self._units = []
        self._index = None

    def _build(self) -> Any:
        # Imported here, as it is slow to load and no other memory needs it.
        import bm25s

        index = bm25s.BM25(
            k1=self._settings.k1, b=self._settings.b, method="lucene", dtype="float64", auto_compile=False
        )
        index.index([self._terms(unit.text) for unit in self._units], show_progress=False)
        return index

    def _terms(self, text: str) -> list[str]:
        return [self._stem(word) for word in _words(text)]


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    """A corpus says the same words again and again, and the stemmer is slow."""
    return str(_STEMMER.stemWord(word))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
