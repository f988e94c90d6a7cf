"""Word sets of many texts, and the Jaccard overlap of one with all the others."""

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from membench.memories.episodic.growing import Growing

Numbers = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
Overlaps = Callable[[int], npt.NDArray[np.float64]]

_WORD = re.compile(r"\w+")


class WordSets:
    """Sets of word numbers below ``numbers``, laid end to end: set i is ``flat[ends[i] : ends[i + 1]]``."""

    def __init__(self, flat: Numbers, ends: Positions, numbers: int) -> None:
        self._flat = flat
        self._ends = ends
        self._numbers = numbers

    def take(self, positions: Positions) -> "WordSets":
        """The sets at ``positions``."""
        sizes = self._ends[positions + 1] - self._ends[positions]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        shift = np.repeat(self._ends[positions] - ends[:-1], sizes)
        return WordSets(self._flat[np.arange(ends[-1]) + shift], ends, self._numbers)

    def overlaps(self) -> Overlaps:
        """A function that gives the Jaccard overlap of the set at one position with each, 0 for two empty ones."""
        sizes = np.diff(self._ends)
        filled = (sizes > 0).astype(np.float64)
        # An empty set shares nothing; the 1 only keeps two of them from dividing by zero.
        union_base = np.maximum(sizes, 1).astype(np.float64)
        # The entry past the end keeps a trailing empty set in range; no text has that word. `take` wants wide numbers.
        flat = np.append(self._flat, self._numbers).astype(np.intp, copy=False)
        starts = self._ends[:-1]
        marked = np.zeros(self._numbers + 1, dtype=np.float64)

        def of(position: int) -> npt.NDArray[np.float64]:
            words = flat[starts[position] : starts[position] + sizes[position]]
            marked[words] = 1.0
            # For an empty set reduceat gives the first entry of the next one.
            shared = np.add.reduceat(marked.take(flat), starts) * filled
            marked[words] = 0.0
            overlap: npt.NDArray[np.float64] = shared / (union_base + len(words) - shared)
            return overlap

        return of


class GrowingWordSets:
    """The word set of each text, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._flat = Growing(np.int32)
        self._ends = Growing(np.int64)
        self._ends.append(0)

    def append(self, text: str) -> None:
        r"""Adds the set of the distinct lowercase ``\w+`` words of ``text``."""
        words = set(_WORD.findall(text.lower()))
        self._flat.extend(np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words)))
        self._ends.append(len(self._flat))

    def sets(self) -> WordSets:
        """All of them: a view, to be taken anew after every change."""
        return WordSets(self._flat.values, self._ends.values, len(self._numbers))

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Leaves only the sets where ``kept`` is true."""
        sizes = np.diff(self._ends.values)
        self._flat.keep(np.repeat(kept, sizes))
        self._ends = Growing(np.int64)
        self._ends.extend(np.concatenate([[0], np.cumsum(sizes[kept])]))


class _Numbers(dict[str, int]):
    """Gives each word a number: how many others came before it."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number
