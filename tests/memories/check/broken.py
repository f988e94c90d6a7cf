"""Memories that break the contract, each in one way: the rule that says so stands beside it in `BROKEN`."""

import itertools
import subprocess
import tempfile
import threading
import time
from collections import deque
from dataclasses import replace

from good import Aging, Displacing, Good, GoodStore, Refusing, TextOnly, memory_of

from membench.memories.protocol import Hit, Receipt, Unit


class FailsToDescribe(Good):
    def describe(self):
        raise RuntimeError("no idea")


class DescribesItselfOtherwise(Good):
    turns = itertools.count()

    def describe(self):
        return replace(self.description, settings={"started": next(self.turns)})


class DescribesItselfInTurn(Good):
    turns = itertools.cycle(["hot", "cold"])

    def describe(self):
        return replace(self.description, backend=next(self.turns))


class DescribesItselfOtherwiseOnceUsed(Good):
    def describe(self):
        return replace(self.description, backend="warm" if self.stores else "cold")


class Prefilled(GoodStore):
    def opened(self):
        self.units = [Unit("left", "s", "Marta planted tulips", None)]
        self.write_one = self._first_write

    def _first_write(self, unit):
        del self.write_one
        self.units = []
        return self.write_one(unit)


class FailsWhenEmpty(GoodStore):
    def search(self, query, limit, as_of):
        if not self.units:
            raise IndexError("list index out of range")
        return super().search(query, limit, as_of)


class Late(GoodStore):
    """A write is there after a while."""

    seconds = 0.08

    def opened(self):
        self.written = {}

    def write_one(self, unit):
        self.written[unit.id] = time.monotonic()
        return super().write_one(unit)

    def scored(self, query, as_of):
        now = time.monotonic()
        return [hit for hit in super().scored(query, as_of) if now - self.written[hit.unit] > self.seconds]


class LosesOneOfMany(GoodStore):
    def write_one(self, unit):
        return Receipt("stored") if unit.id.endswith("u77") else super().write_one(unit)


class KeepsTheLatest(GoodStore):
    def opened(self):
        self.units = deque(maxlen=200)

    def close(self):
        self.units = deque()


class RefusesEverything(GoodStore):
    def write_one(self, unit):
        return Receipt("refused", "full")


class RanksItselfOutOfSight(GoodStore):
    """A text is not among the hits for itself."""

    def scored(self, query, as_of):
        texts = {unit.id: unit.text for unit in self.units}
        return [hit for hit in super().scored(query, as_of) if texts[hit.unit] != query]


class StoresTwinsOnce(GoodStore):
    """Says of a text that it has that it is stored, and drops it."""

    def write_one(self, unit):
        known = any(unit.text == other.text for other in self.units)
        return Receipt("stored") if known else super().write_one(unit)


class StoresTwinsOfOneCallOnce(GoodStore):
    """Keeps the units of a call by their text."""

    def write(self, units):
        self.units += {unit.text: unit for unit in units}.values()
        return [Receipt("stored") for _ in units]


class StoresTwinsOfTwoCallsOnce(GoodStore):
    def write(self, units):
        known = {unit.text for unit in self.units}
        self.units += [unit for unit in units if unit.text not in known]
        return [Receipt("stored") for _ in units]


class StoresTwinsOnceByText(TextOnly, StoresTwinsOnce):
    pass


class KeepsWhatItRefuses(Refusing):
    def write_one(self, unit):
        receipt = super().write_one(unit)
        if receipt.status == "refused":
            self.units.append(unit)
        return receipt


class KeepsWhatItCallsADuplicate(Refusing):
    def write_one(self, unit):
        receipt = super().write_one(unit)
        if receipt.status == "duplicate":
            self.units.append(unit)
        return receipt


class KeepsWhatItDisplaces(Displacing):
    def write_one(self, unit):
        old = list(self.units)
        receipt = super().write_one(unit)
        self.units = [*old, unit]
        return receipt


class SortsReceipts(Refusing):
    def write(self, units):
        return sorted(super().write(units), key=lambda receipt: receipt.status)


class OneReceiptTooFew(GoodStore):
    def write(self, units):
        return super().write(units)[1:]


class NoReceiptAtAll(GoodStore):
    def write(self, units):
        return [str(receipt) for receipt in super().write(units)]


class IgnoresTheLimit(GoodStore):
    def search(self, query, limit, as_of):
        return self.ranked(query, as_of)


class OneHitTooMany(GoodStore):
    def search(self, query, limit, as_of):
        return self.ranked(query, as_of)[: limit + 1]


class OneHitTooFew(GoodStore):
    def search(self, query, limit, as_of):
        return self.ranked(query, as_of)[: limit - 1]


class ScoresByDistance(GoodStore):
    def ranked(self, query, as_of):
        return [Hit(1 - hit.score, hit.unit) for hit in super().ranked(query, as_of)]


class ScoresWithNaN(GoodStore):
    def ranked(self, query, as_of):
        return [hit if hit.score else Hit(float("nan"), hit.unit) for hit in super().ranked(query, as_of)]


class SwapsTheFirstTwo(GoodStore):
    def ranked(self, query, as_of):
        first, second, *rest = [*super().ranked(query, as_of), None, None]
        return [hit for hit in (second, first, *rest) if hit is not None]


class InsertionOrder(GoodStore):
    def score(self, query, unit, as_of):
        return 1.0


class InsertionOrderWithScores(GoodStore):
    def scored(self, query, as_of):
        return [Hit(1 / place, unit.id) for place, unit in enumerate(self.units, start=1)]


class PinsTheFirst(GoodStore):
    """What was written first comes first, whatever is asked."""

    def score(self, query, unit, as_of):
        return 2.0 if unit is self.units[0] else super().score(query, unit, as_of)


class WorstFirst(GoodStore):
    def score(self, query, unit, as_of):
        return 1 - super().score(query, unit, as_of)


class SharesPools(GoodStore):
    def scored(self, query, as_of):
        return [hit for store in self.memory.stores for hit in GoodStore.scored(store, query, as_of)]


class SharesPoolsByText(TextOnly):
    def ranked(self, query, as_of):
        found = [hit for store in self.memory.stores for hit in TextOnly.ranked(store, query, as_of)]
        return sorted(found, key=lambda hit: -hit.score)

    def opened(self):
        # Pools that were closed are empty.
        pass


class ClosesAllPools(GoodStore):
    def close(self):
        for store in self.memory.stores:
            store.units = []


class MakesIdsOfItsOwn(GoodStore):
    def ranked(self, query, as_of):
        return [Hit(hit.score, f"memory-{hit.unit}") for hit in super().ranked(query, as_of)]


class CutsIds(GoodStore):
    def ranked(self, query, as_of):
        return [Hit(hit.score, hit.unit[:6]) for hit in super().ranked(query, as_of)]


class RepeatsHits(GoodStore):
    def ranked(self, query, as_of):
        hits = super().ranked(query, as_of)
        return [*hits[:1], *hits]


class NamesNothing(GoodStore):
    def ranked(self, query, as_of):
        hits = super().ranked(query, as_of)
        return [*hits, Hit(-1.0)] if hits else []


class ChangesTexts(TextOnly):
    def ranked(self, query, as_of):
        return [Hit(hit.score, text=hit.text.lower()) for hit in super().ranked(query, as_of)]


class FailsOnNul(GoodStore):
    def write_one(self, unit):
        if "\0" in unit.text:
            raise ValueError("embedded null character")
        return super().write_one(unit)


class LosesAllButAscii(GoodStore):
    def write_one(self, unit):
        return super().write_one(unit) if unit.text.isascii() else Receipt("stored")


class NormalisesTexts(TextOnly):
    def write_one(self, unit):
        import unicodedata

        return super().write_one(unit._replace(text=unicodedata.normalize("NFC", unit.text)))


class RefusesWithoutAReason(GoodStore):
    def write_one(self, unit):
        return Receipt("refused") if len(unit.text) > 50_000 else super().write_one(unit)


class FailsOnABlank(GoodStore):
    def write_one(self, unit):
        return super().write_one(unit) if unit.text.split()[0] else None


class FailsOnAnEmptyQuery(GoodStore):
    def search(self, query, limit, as_of):
        if not query:
            raise ValueError("the query is empty")
        return super().search(query, limit, as_of)


class FailsOnALongQuery(GoodStore):
    def search(self, query, limit, as_of):
        if len(query) > 8192:
            raise ValueError("maximum context length exceeded")
        return super().search(query, limit, as_of)


class TurnsTies(GoodStore):
    turns = 0

    def scored(self, query, as_of):
        self.turns += 1
        hits = super().scored(query, as_of)
        by = self.turns % max(len(hits), 1)
        return [*hits[by:], *hits[:by]]


class LearnsFromSearches(GoodStore):
    """What was found scores higher the next time."""

    def opened(self):
        self.found = {}

    def scored(self, query, as_of):
        hits = [Hit(hit.score + self.found.get(hit.unit, 0.0), hit.unit) for hit in super().scored(query, as_of)]
        for hit in hits:
            if hit.score > 0.5:
                self.found[hit.unit] = self.found.get(hit.unit, 0.0) + 0.01
        return hits


class SearchesOneAtATime(GoodStore):
    """What is asked for is kept where the next search finds it."""

    def search(self, query, limit, as_of):
        self.query = query
        time.sleep(0.001)
        return super().search(self.query, limit, as_of)


class FailsTwoAtATime(GoodStore):
    busy = False

    def search(self, query, limit, as_of):
        if self.busy:
            raise RuntimeError("database is locked")
        self.busy = True
        time.sleep(0.001)
        self.busy = False
        return super().search(query, limit, as_of)


class BlocksTwoAtATime(GoodStore):
    stop = threading.Event()

    def opened(self):
        self.lock = threading.Lock()

    def search(self, query, limit, as_of):
        if not self.lock.acquire(blocking=False):
            self.stop.wait(30)
        time.sleep(0.001)
        hits = super().search(query, limit, as_of)
        self.lock.release()
        return hits


class AnswersOnceClosed(GoodStore):
    def close(self):
        pass


class RemembersPools(GoodStore):
    def opened(self):
        self.units = self.memory.__dict__.setdefault("kept", {}).setdefault(self.pool, [])

    def close(self):
        self.units = []


class RemembersPoolsByText(TextOnly, RemembersPools):
    pass


class LeavesFiles(GoodStore):
    def opened(self):
        tempfile.mkdtemp()


class LeavesThreads(GoodStore):
    stop = threading.Event()

    def opened(self):
        threading.Thread(target=self.stop.wait, daemon=True).start()


class LeavesProcesses(GoodStore):
    started: list[subprocess.Popen] = []  # noqa: RUF012

    def opened(self):
        self.started.append(subprocess.Popen(["sleep", "60"]))


class FailsToClose(GoodStore):
    def close(self):
        raise OSError("still in use")


class FailsToCloseSometimes(GoodStore):
    def close(self):
        if len(self.units) > 200:
            raise OSError("too much to remove")
        super().close()


class FailsToOpen(Good):
    def open(self, pool):
        raise ConnectionError("no database")


class AnswersRubbish(GoodStore):
    def search(self, query, limit, as_of):
        return ["a", "b"]


# What is broken, and the memory.
BROKEN = {
    "a description that fails": ("describe", FailsToDescribe),
    "another description every time": ("describe", DescribesItselfOtherwise),
    "two descriptions in turn": ("describe", DescribesItselfInTurn),
    "another description once used": ("describe", DescribesItselfOtherwiseOnceUsed),
    "a description without a name": ("describe", lambda: memory_of(GoodStore, name="")),
    "no concurrency": ("describe", lambda: memory_of(GoodStore, concurrency=0)),
    "something in a new pool": ("fresh", lambda: memory_of(Prefilled)),
    "an error from an empty pool": ("fresh", lambda: memory_of(FailsWhenEmpty)),
    "writes that take their time": ("visible", lambda: memory_of(Late)),
    "one of many lost": ("found", lambda: memory_of(LosesOneOfMany)),
    "only the latest kept": ("found", lambda: memory_of(KeepsTheLatest)),
    "a twin called stored": ("receipts", lambda: memory_of(StoresTwinsOnce)),
    "a twin of one call called stored": ("receipts", lambda: memory_of(StoresTwinsOfOneCallOnce)),
    "a twin of two calls called stored": ("receipts", lambda: memory_of(StoresTwinsOfTwoCallsOnce)),
    "a twin called stored, by text": ("receipts", lambda: memory_of(StoresTwinsOnceByText)),
    "what is refused kept": ("receipts", lambda: memory_of(KeepsWhatItRefuses)),
    "duplicates kept": ("receipts", lambda: memory_of(KeepsWhatItCallsADuplicate)),
    "what is displaced kept": ("receipts", lambda: memory_of(KeepsWhatItDisplaces)),
    "receipts in another order": ("receipts", lambda: memory_of(SortsReceipts)),
    "a receipt too few": ("receipts", lambda: memory_of(OneReceiptTooFew)),
    "no receipts": ("receipts", lambda: memory_of(NoReceiptAtAll)),
    "no limit": ("limit", lambda: memory_of(IgnoresTheLimit)),
    "a hit too many": ("limit", lambda: memory_of(OneHitTooMany)),
    "a hit too few": ("limit", lambda: memory_of(OneHitTooFew)),
    "distances for scores": ("scores", lambda: memory_of(ScoresByDistance)),
    "no number for a score": ("scores", lambda: memory_of(ScoresWithNaN)),
    "the second first": ("scores", lambda: memory_of(SwapsTheFirstTwo)),
    "insertion order": ("order", lambda: memory_of(InsertionOrder)),
    "insertion order, with scores made up": ("order", lambda: memory_of(InsertionOrderWithScores)),
    "one hit always first": ("order", lambda: memory_of(PinsTheFirst)),
    "the worst first": ("order", lambda: memory_of(WorstFirst)),
    "pools that are one": ("isolated", lambda: memory_of(SharesPools)),
    "pools that are one, by text": ("isolated", lambda: memory_of(SharesPoolsByText)),
    "all pools closed with one": ("isolated", lambda: memory_of(ClosesAllPools)),
    "ids of its own": ("ids", lambda: memory_of(MakesIdsOfItsOwn)),
    "ids cut short": ("ids", lambda: memory_of(CutsIds)),
    "hits given twice": ("ids", lambda: memory_of(RepeatsHits)),
    "hits without a name": ("ids", lambda: memory_of(NamesNothing)),
    "texts in small letters": ("ids", lambda: memory_of(ChangesTexts)),
    "an error at NUL": ("unicode", lambda: memory_of(FailsOnNul)),
    "an error at a blank": ("unicode", lambda: memory_of(FailsOnABlank)),
    "all but ASCII lost": ("unicode", lambda: memory_of(LosesAllButAscii)),
    "a refusal without a reason": ("unicode", lambda: memory_of(RefusesWithoutAReason)),
    "an error at an empty query": ("queries", lambda: memory_of(FailsOnAnEmptyQuery)),
    "an error at a long query": ("queries", lambda: memory_of(FailsOnALongQuery)),
    "ties in turn": ("repeatable", lambda: memory_of(TurnsTies)),
    "searches that teach it": ("repeatable", lambda: memory_of(LearnsFromSearches)),
    "a date that has no effect": ("as_of", lambda: memory_of(GoodStore, honours_as_of=True)),
    "a date that has an effect": ("as_of", lambda: memory_of(Aging)),
    "another's query": ("concurrent", lambda: memory_of(SearchesOneAtATime, concurrency=3)),
    "an error for two at a time": ("concurrent", lambda: memory_of(FailsTwoAtATime, concurrency=2)),
    "a standstill for two at a time": ("concurrent", lambda: memory_of(BlocksTwoAtATime, concurrency=2)),
    "hits from a closed pool": ("errors", lambda: memory_of(AnswersOnceClosed)),
    "pools that come back": ("close", lambda: memory_of(RemembersPools)),
    "pools that come back, by text": ("close", lambda: memory_of(RemembersPoolsByText)),
    "files left behind": ("close", lambda: memory_of(LeavesFiles)),
    "threads left behind": ("close", lambda: memory_of(LeavesThreads)),
    "processes left behind": ("close", lambda: memory_of(LeavesProcesses)),
    "closing that fails": ("close", lambda: memory_of(FailsToClose)),
    "closing that fails with much in it": ("close", lambda: memory_of(FailsToCloseSometimes)),
}
