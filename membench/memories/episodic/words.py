"""Word sets of many texts, and the Jaccard overlap of one with all the others."""

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int32]
Overlaps = Callable[[int], npt.NDArray[np.float64]]


class Vocabulary:
    """Gives each word a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def word_set(self, text: str) -> Words:
        r"""The numbers of the distinct lowercase ``\w+`` words of ``text``."""
        words = set(re.findall(r"\w+", text.lower()))
        return np.array([self._numbers.setdefault(word, len(self._numbers)) for word in words], dtype=np.int32)

    def overlaps(self, word_sets: Sequence[Words]) -> Overlaps:
        """A function that gives the Jaccard overlap of the set at one position with the set at each.

        Two empty sets overlap by 0. An answer is kept for as long as the function is: the same texts are chosen again
        and again.
        """
        sizes = np.array([len(words) for words in word_sets], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
        # An entry past the end keeps the start of a trailing empty set in range; it is in no text's vocabulary.
        flat = np.concatenate([*word_sets, np.array([len(self._numbers)], dtype=np.int32)])
        marked = np.zeros(len(self._numbers) + 1, dtype=np.uint8)

        @cache
        def of(position: int) -> npt.NDArray[np.float64]:
            words = word_sets[position]
            marked[words] = 1
            # reduceat gives the next set's first entry for an empty one.
            shared = np.where(sizes > 0, np.add.reduceat(marked[flat], starts, dtype=np.int64), 0)
            marked[words] = 0
            union = sizes + len(words) - shared
            overlap: npt.NDArray[np.float64] = shared / np.maximum(union, 1)
            return overlap

        return of
