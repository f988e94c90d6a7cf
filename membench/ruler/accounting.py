"""What became of everything that was written and everything that came back: nothing is lost in silence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from membench.corpora.types import Instance, Query
from membench.memories.protocol import Receipt
from membench.ruler.attribution import Attributed
from membench.ruler.fragments import Fragment


@dataclass(frozen=True, slots=True)
class GoldLost:
    """A gold turn, or with ``turn`` None a gold session, of a scorable query that stands nowhere in the store."""

    instance: str
    session: str
    turn: str | None
    reason: str


@dataclass(slots=True)
class Accounting:
    """Counts of one arm over all its pools.

    ``attempted`` = ``written`` + duplicates + refused; ``foreign_hits`` are those ``unattributed_hits`` that name a
    unit of another pool; ``displaced`` units were written and pushed out again.
    ``widest_span_days`` is from the first to the last dated session of an instance.
    """

    attempted: int = 0
    written: int = 0
    displaced: int = 0
    duplicates: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    gold_lost: list[GoldLost] = field(default_factory=list)
    queries_missing_gold: int = 0
    searches: int = 0
    empty_searches: int = 0
    hits: int = 0
    hits_over_limit: int = 0
    unattributed_hits: int = 0
    foreign_hits: int = 0
    repeated_hits: int = 0
    undated_units: int = 0
    widest_span_days: int = 0

    def count_writes(self, fragments: Sequence[Fragment], receipts: Sequence[Receipt]) -> None:
        """One pool's receipts, in the order of its fragments."""
        self.attempted += len(fragments)
        self.undated_units += sum(fragment.unit.time is None for fragment in fragments)
        for receipt in receipts:
            if receipt.status == "stored":
                self.written += 1
                self.displaced += len(receipt.displaced)
            elif receipt.status == "duplicate":
                self.duplicates[receipt.reason or "duplicate"] += 1
            else:
                self.refused[receipt.reason or "refused"] += 1

    def count_gold(self, queries: Sequence[Query], lost: Sequence[GoldLost]) -> None:
        """The gold of one instance's scored ``queries`` that does not stand in its store."""
        names = {one.session if one.turn is None else one.turn for one in lost}
        self.gold_lost += lost
        self.queries_missing_gold += sum(
            not names.isdisjoint([*query.gold_turns, *query.gold_sessions]) for query in queries
        )

    def count_hits(self, returned: int, limit: int, attributed: Attributed) -> None:
        """One search's hits."""
        self.searches += 1
        self.empty_searches += not returned
        self.hits += min(returned, limit)
        self.hits_over_limit += max(returned - limit, 0)
        self.unattributed_hits += attributed.unknown
        self.foreign_hits += attributed.foreign
        self.repeated_hits += attributed.repeated


def fates(fragments: Sequence[Fragment], receipts: Sequence[Receipt]) -> dict[str, str]:
    """Why each unit that does not stand in the store is not there, by unit id."""
    lost = {
        fragment.unit.id: f"{receipt.status}: {receipt.reason}" if receipt.reason else receipt.status
        for fragment, receipt in zip(fragments, receipts, strict=True)
        if receipt.status != "stored"
    }
    for fragment, receipt in zip(fragments, receipts, strict=True):
        lost.update((unit, f"displaced by a later unit of {fragment.session}") for unit in receipt.displaced)
    return lost


def gold_lost(instance: Instance, fragments: Sequence[Fragment], lost: dict[str, str]) -> Iterator[GoldLost]:
    """The gold of the scorable queries of ``instance`` that no standing fragment holds.

    A gold turn is named once, however many queries want it. A gold session without gold turns is named as a whole.
    """
    standing = [fragment for fragment in fragments if fragment.unit.id not in lost]
    turns = {turn for fragment in standing for turn in fragment.turns}
    sessions = {fragment.session for fragment in standing}
    home = {turn.id: session.id for session in instance.sessions for turn in session.turns}
    scorable = [query for query in instance.queries if query.scorable]
    for turn in dict.fromkeys(turn for query in scorable for turn in query.gold_turns):
        if turn not in turns:
            why = _reason(lost, (fragment for fragment in fragments if turn in fragment.turns))
            yield GoldLost(instance.id, home[turn], turn, why)
    named = {home[turn] for query in scorable for turn in query.gold_turns}
    for session in dict.fromkeys(session for query in scorable for session in query.gold_sessions):
        if session not in sessions and session not in named:
            why = _reason(lost, (fragment for fragment in fragments if fragment.session == session))
            yield GoldLost(instance.id, session, None, why)


def _reason(lost: dict[str, str], holders: Iterable[Fragment]) -> str:
    reasons = dict.fromkeys(lost[fragment.unit.id] for fragment in holders)
    return "; ".join(reasons) or "nothing of it is written: it is blank, or of other roles"
