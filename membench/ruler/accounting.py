"""What became of everything that was written and everything that came back: nothing is lost in silence."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from membench.memories.protocol import Receipt
from membench.ruler.attribution import Attributed
from membench.ruler.fragments import Fragment
from membench.ruler.ledger import Ledger
from membench.ruler.scoring import Wanted


@dataclass(frozen=True, slots=True)
class GoldLost:
    """A gold turn, or with ``turn`` None a gold session, of a scorable query that stands nowhere in the store."""

    instance: str
    session: str
    turn: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class SharedSessions:
    """The sessions of a shared pool. ``references`` stand in its instances, under ``ids`` distinct ids, with ``texts``
    distinct texts, each of which is written once, dated as its first reference; ``redated`` references have another
    date. Of ``never_stored`` of the texts nothing stands in the store.
    """

    references: int
    ids: int
    texts: int
    redated: int
    never_stored: int


@dataclass(slots=True)
class Accounting:
    """Counts of one pool, or of several together.

    ``attempted`` = ``written`` + duplicates + refused; ``foreign_hits`` are those ``unattributed_hits`` that name a
    unit of another pool; ``displaced`` units were written and pushed out again.
    ``widest_span_days`` is from the first to the last dated session of a pool. ``shared`` is None for own pools.
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
    shared: SharedSessions | None = None

    def count_writes(self, fragments: Sequence[Fragment], receipts: Sequence[Receipt]) -> None:
        """The receipts of some fragments, in their order."""
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

    def count_gold(self, wanted: Sequence[Wanted], ledger: Ledger) -> None:
        """The gold of the scored queries that does not stand in their store.

        A gold turn is named once, however many queries want it. A gold session without gold turns is named as a whole.
        """
        lost = _Lost(ledger, wanted)
        named: dict[tuple[str, str, str | None], GoldLost] = {}
        for one in wanted:
            missing = list(lost.of(one))
            self.queries_missing_gold += bool(missing)
            named.update({(gold.instance, gold.session, gold.turn): gold for gold in missing})
        self.gold_lost += sorted(named.values(), key=lambda gold: gold.turn is None)

    def count_hits(self, returned: int, limit: int, attributed: Attributed) -> None:
        """One search's hits."""
        self.searches += 1
        self.empty_searches += not returned
        self.hits += min(returned, limit)
        self.hits_over_limit += max(returned - limit, 0)
        self.unattributed_hits += attributed.unknown
        self.foreign_hits += attributed.foreign
        self.repeated_hits += attributed.repeated

    def add(self, other: "Accounting") -> None:
        """Counts what ``other`` counts too, after what is counted here."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.duplicates.update(other.duplicates)
        self.refused.update(other.refused)
        self.gold_lost += other.gold_lost
        self.widest_span_days = max(self.widest_span_days, other.widest_span_days)
        self.shared = self.shared or other.shared


_SUMS = (
    "attempted",
    "written",
    "displaced",
    "queries_missing_gold",
    "searches",
    "empty_searches",
    "hits",
    "hits_over_limit",
    "unattributed_hits",
    "foreign_hits",
    "repeated_hits",
    "undated_units",
)


class _Lost:
    """Which gold stands nowhere, and why."""

    def __init__(self, ledger: Ledger, wanted: Sequence[Wanted]) -> None:
        self._named = {(one.instance, home) for one in wanted for home, _ in one.turns.values()}
        self._turns = {turn for one in ledger.standing() for turn in one.turns}
        self._sessions = {one.session for one in ledger.standing()}
        self._reasons: dict[str, dict[str, None]] = defaultdict(dict)
        for one in ledger.written:
            if one.unit in ledger.lost:
                for name in (f"session {one.session}", *(f"turn {turn}" for turn in one.turns)):
                    self._reasons[name][ledger.lost[one.unit]] = None

    def of(self, wanted: Wanted) -> Iterator[GoldLost]:
        for turn, (home, name) in wanted.turns.items():
            if turn not in self._turns:
                yield GoldLost(wanted.instance, home, name, self._why(self._reasons[f"turn {turn}"]))
        for session, name in wanted.sessions.items():
            if session not in self._sessions and (wanted.instance, name) not in self._named:
                yield GoldLost(wanted.instance, name, None, self._why(self._reasons[f"session {session}"]))

    def _why(self, reasons: Iterable[str]) -> str:
        return "; ".join(reasons) or "nothing of it is written: it is blank, or of other roles"
