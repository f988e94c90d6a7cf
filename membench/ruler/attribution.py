"""From hits back to what was written: by unit id, or by text for a memory that gives back nothing else."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from membench.memories.protocol import Hit
from membench.ruler.fragments import Fragment, is_of_another


@dataclass(frozen=True, slots=True)
class Attributed:
    """``ranked``: the fragments that were hit, best first, each once. ``unknown`` hits are of nothing that stands in
    the store, of which ``foreign`` ones name a unit of another pool; ``repeated`` ones are of a fragment that was hit
    before.
    """

    ranked: tuple[tuple[Fragment, float], ...]
    unknown: int
    repeated: int
    foreign: int = 0


class Attribution:
    """Knows the fragments that stand in the store of ``pool``.

    A text is looked up as it was written, then without blanks at its ends, since a store may strip it; one that comes
    back with such blanks was not stripped. Where several fragments have the same text, its first hit is the first of
    them, its second hit the second.
    """

    def __init__(self, standing: Iterable[Fragment], pool: str) -> None:
        self._pool = pool
        self._by_id: dict[str, Fragment] = {}
        self._by_text: dict[str, list[Fragment]] = defaultdict(list)
        self._by_stripped: dict[str, list[Fragment]] = defaultdict(list)
        for fragment in standing:
            self._by_id[fragment.unit.id] = fragment
            self._by_text[fragment.unit.text].append(fragment)
            self._by_stripped[fragment.unit.text.strip()].append(fragment)

    def attribute(self, hits: Sequence[Hit]) -> Attributed:
        """The fragments of ``hits``, in their order."""
        taken: set[str] = set()
        ranked: list[tuple[Fragment, float]] = []
        unknown = repeated = foreign = 0
        for hit in hits:
            candidates = self._candidates(hit)
            fragment = next((one for one in candidates if one.unit.id not in taken), None)
            if fragment is not None:
                taken.add(fragment.unit.id)
                ranked.append((fragment, hit.score))
            elif candidates:
                repeated += 1
            else:
                unknown += 1
                foreign += hit.unit is not None and is_of_another(hit.unit, self._pool)
        return Attributed(tuple(ranked), unknown, repeated, foreign)

    def _candidates(self, hit: Hit) -> Sequence[Fragment]:
        if hit.unit is not None:
            found = self._by_id.get(hit.unit)
            return () if found is None else (found,)
        if hit.text is None:
            return ()
        exact = self._by_text.get(hit.text, [])
        stripped = hit.text.strip()
        return exact if exact and hit.text != stripped else [*exact, *self._by_stripped.get(stripped, ())]
