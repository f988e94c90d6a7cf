"""Word sets of many texts, and the Jaccard overlap of one with all the others."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]
Positions = npt.NDArray[np.int64]
Overlaps = Callable[[int], npt.NDArray[np.float64]]


class Vocabulary:
    """Gives each word a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def word_set(self, text: str) -> Words:
        r"""The numbers of the distinct lowercase ``\w+`` words of ``text``."""
        words = set(re.findall(r"\w+", text.lower()))
        return np.array([self._numbers.setdefault(word, len(self._numbers)) for word in words], dtype=np.int64)


class WordSets:
    """Sets of word numbers below ``numbers``, laid end to end: set i is ``flat[ends[i] : ends[i + 1]]``."""

    def __init__(self, flat: Words, ends: Positions, numbers: int) -> None:
        self._flat = flat
        self._ends = ends
        self._numbers = numbers

    @classmethod
    def of(cls, sets: Sequence[Words], numbers: int) -> "WordSets":
        """The sets in their order."""
        ends = np.concatenate([[0], np.cumsum([len(words) for words in sets], dtype=np.int64)])
        return cls(np.concatenate([*sets, np.empty(0, dtype=np.int64)]), ends, numbers)

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
        # The entry past the end keeps a trailing empty set in range; no text has that word.
        flat = np.append(self._flat, self._numbers)
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
