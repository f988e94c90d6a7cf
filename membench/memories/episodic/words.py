"""Word sets of many texts, and the Jaccard overlap of one with all the others."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]


class Vocabulary:
    """Gives each word a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def word_set(self, text: str) -> Words:
        r"""The numbers of the distinct lowercase ``\w+`` words of ``text``."""
        words = dict.fromkeys(re.findall(r"\w+", text.lower()))
        return np.array([self._numbers.setdefault(word, len(self._numbers)) for word in words], dtype=np.int64)

    def overlaps(self, word_sets: Sequence[Words]) -> Callable[[int], npt.NDArray[np.float64]]:
        """A function that gives the Jaccard overlap of the set at one position with the set at each, 0 for two empty
        sets.
        """
        sizes = np.array([len(words) for words in word_sets], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.concatenate([*word_sets, np.empty(0, dtype=np.int64)])
        marked = np.zeros(len(self._numbers), dtype=bool)

        def of(position: int) -> npt.NDArray[np.float64]:
            words = word_sets[position]
            marked[words] = True
            running = np.concatenate([[0], np.cumsum(marked[flat])])
            marked[words] = False
            shared = running[ends[1:]] - running[ends[:-1]]
            union = sizes + len(words) - shared
            overlap: npt.NDArray[np.float64] = shared / np.maximum(union, 1)
            return overlap

        return of
