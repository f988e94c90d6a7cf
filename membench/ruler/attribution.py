"""From hits back to what was written: by unit id, or by text for a memory that gives back nothing else."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from membench.memories.protocol import Hit
from membench.ruler.fragments import is_of_another
from membench.ruler.ledger import Written, text_fingerprint


@dataclass(frozen=True, slots=True)
class Attributed:
    """``ranked``: what was hit, best first, each once. ``unknown`` hits are of nothing that stands in
    the store, of which ``foreign`` ones name a unit of another pool; ``repeated`` ones are of a fragment that was hit
    before.
    """

    ranked: tuple[tuple[Written, float], ...]
    unknown: int
    repeated: int
    foreign: int = 0


class Attribution:
    """Knows the fragments that stand in the store of ``pool``.

    A text is looked up as it was written, then without blanks at its ends, since a store may strip it; one that comes
    back with such blanks was not stripped. Where several fragments have the same text, its first hit is the first of
    them, its second hit the second.
    """

    def __init__(self, standing: Iterable[Written], pool: str) -> None:
        self._pool = pool
        self._by_id = {one.unit: one for one in standing}
        self._texts: _Texts | None = None

    def attribute(self, hits: Sequence[Hit]) -> Attributed:
        """What ``hits`` are of, in their order."""
        taken: set[str] = set()
        ranked: list[tuple[Written, float]] = []
        unknown = repeated = foreign = 0
        for hit in hits:
            candidates = self._candidates(hit)
            found = next((one for one in candidates if one.unit not in taken), None)
            if found is not None:
                taken.add(found.unit)
                ranked.append((found, hit.score))
            elif candidates:
                repeated += 1
            else:
                unknown += 1
                foreign += hit.unit is not None and is_of_another(hit.unit, self._pool)
        return Attributed(tuple(ranked), unknown, repeated, foreign)

    def _candidates(self, hit: Hit) -> Sequence[Written]:
        if hit.unit is not None:
            found = self._by_id.get(hit.unit)
            return () if found is None else (found,)
        if hit.text is None:
            return ()
        if self._texts is None:
            # Most memories give back ids, and then nobody asks for a text.
            self._texts = _Texts(self._by_id.values())
        return self._texts.of(hit.text)


class _Texts:
    """What stands, by its text."""

    def __init__(self, standing: Iterable[Written]) -> None:
        self._whole: dict[bytes, list[Written]] = defaultdict(list)
        self._stripped: dict[bytes, list[Written]] = defaultdict(list)
        for one in standing:
            self._whole[one.text].append(one)
            self._stripped[one.stripped].append(one)

    def of(self, text: str) -> Sequence[Written]:
        exact = self._whole.get(text_fingerprint(text), [])
        stripped = text.strip()
        if exact and text != stripped:
            return exact
        return [*exact, *self._stripped.get(text_fingerprint(stripped), ())]
