"""The rules `fresh`, `found` and `visible`: a pool begins empty, and what was written is there, at once."""

from dataclasses import dataclass

from membench.memories.check.bench import LIMIT, Bench, Broken, NotJudged, Written
from membench.memories.check.hits import quoted, shown_hits, shown_search
from membench.memories.check.texts import FEW, many

UNITS = 260
UNITS_A_WRITE = 256
"""As in a run."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """What became of many units. ``late``: seconds until each that was not found at once was."""

    stored: int
    late: dict[str, float]
    never: list[Written]


def fresh(bench: Bench) -> str:
    """A pool just opened gives no hit."""
    with bench.pool() as pool:
        for query in FEW[:3]:
            if hits := pool.search(query):
                raise Broken(
                    f"A search in a pool just opened gave {shown_hits(hits)}: expected none.",
                    f"open({quoted(pool.name)}), {shown_search(query, LIMIT)}",
                    shown_hits(hits),
                )
    return "A pool just opened gave no hit for three queries."


class Storing:
    """The rules `visible` and `found`, which look at the same units."""

    def __init__(self) -> None:
        self._visibility: Visibility | None = None

    def visible(self, bench: Bench) -> str:
        """Every unit that was stored is found by the first search for it."""
        seen = self._visibility = _visibility(bench)
        found = seen.stored - len(seen.never)
        if not found:
            raise NotJudged("None of the units was found at all: see the rule `found`.")
        if seen.late:
            slowest = max(seen.late, key=lambda unit: seen.late[unit])
            waited = seen.late[slowest]
            # The other rules wait for it, so that they can tell what else is the matter.
            bench.settling = 2 * waited + 0.5
            raise Broken(
                f"{len(seen.late)} of {found} units were not found at once, the last of them {waited:.1f} s after the "
                "write was answered: a write has to return once the next search sees it.",
                f"search for the own text of {slowest}, again and again",
                f"found after {waited:.1f} s",
            )
        return f"{found} units, written {UNITS_A_WRITE} at a time, were found by the first search for each."

    def found(self, bench: Bench) -> str:
        """What was stored is found by its own text."""
        with bench.pool() as pool:
            stored = [one for one in pool.write(FEW) if one.stored]
            if not stored:
                reason = pool.written[0].receipt.reason
                raise Broken(
                    f"None of {len(FEW)} plain sentences was stored.",
                    f"write({quoted(FEW[0])})",
                    f"{pool.written[0].receipt.status}: {reason}",
                )
            first = 0
            for one in pool.standing():
                place, hits = pool.look_for(one)
                if place is None:
                    raise Broken(
                        f"{one.unit.id} was stored and is not among the hits for its own text.",
                        shown_search(one.unit.text, LIMIT),
                        shown_hits(hits),
                    )
                first += place == 1
        if self._visibility is not None and (never := self._visibility.never):
            raise Broken(
                f"{len(never)} of {self._visibility.stored} stored units were never found by their own text, within "
                f"{bench.patience:g} s.",
                f"write({quoted(never[0].unit.text)} as {never[0].unit.id} among {UNITS}), then search for it",
                "stored, and no hit",
            )
        return f"{len(stored)} of {len(FEW)} sentences were stored and found, {first} as the first hit for themselves."


def _visibility(bench: Bench) -> Visibility:
    with bench.pool() as pool:
        texts = many(UNITS)
        for start in range(0, UNITS, UNITS_A_WRITE):
            pool.write(texts[start : start + UNITS_A_WRITE])
        stored = pool.standing()
        late, never = pool.wait_for(stored, bench.patience)
    return Visibility(len(stored), late, never)
