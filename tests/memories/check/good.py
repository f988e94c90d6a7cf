"""Memories that keep the contract: one to be broken, and others that do it in other ways."""

from functools import lru_cache

from membench.memories.protocol import Description, Hit, Receipt, Unit


@lru_cache(10_000)
def words_of(text):
    return frozenset(word.rstrip(".") for word in text.split())


class Good:
    """Keeps units in order; ranks by shared words, ties in order of writing."""

    description = Description("good", "1", "words", own=True)

    def __init__(self):
        self.stores = []

    def describe(self):
        return self.description

    def open(self, pool):
        store = self.store()
        store.pool = pool
        store.memory = self
        self.stores.append(store)
        store.opened()
        return store

    def store(self):
        return self.Store()


class GoodStore:
    def __init__(self):
        self.units: list[Unit] = []
        self.memory: Good
        self.pool = ""
        self.closed = False

    def opened(self):
        pass

    def write(self, units):
        return [self.write_one(unit) for unit in units]

    def write_one(self, unit):
        self.units.append(unit)
        return Receipt("stored")

    def search(self, query, limit, as_of):
        return self.ranked(query, as_of)[:limit]

    def ranked(self, query, as_of):
        return sorted(self.scored(query, as_of), key=lambda hit: -hit.score)

    def scored(self, query, as_of):
        return [Hit(self.score(query, unit, as_of), unit.id) for unit in self.units]

    def score(self, query, unit, as_of):
        del as_of
        asked, words = words_of(query), words_of(unit.text)
        return len(asked & words) / max(len(asked | words), 1)

    def close(self):
        self.closed = True
        self.units = []


Good.Store = GoodStore


def memory_of(store, **described):
    """A memory with stores of that class; ``described`` goes into its description."""
    fields = {"name": "own", "version": "1", "backend": "words", "own": True} | described
    return type(store.__name__, (Good,), {"Store": store, "description": Description(**fields)})()


class TextOnly(GoodStore):
    """Knows no ids."""

    def ranked(self, query, as_of):
        texts = {unit.id: unit.text for unit in self.units}
        return [Hit(hit.score, text=texts[hit.unit].strip()) for hit in super().ranked(query, as_of)]


class Refusing(GoodStore):
    """Refuses short and long texts, and takes each text once."""

    def write_one(self, unit):
        if not 10 <= len(unit.text) <= 2000:
            return Receipt("refused", "too short or too long")
        if any(unit.text == other.text for other in self.units):
            return Receipt("duplicate")
        return super().write_one(unit)


class Displacing(GoodStore):
    """Keeps the newer of two equal texts."""

    def write_one(self, unit):
        old = [other for other in self.units if other.text == unit.text]
        self.units = [other for other in self.units if other not in old]
        super().write_one(unit)
        return Receipt("stored", displaced=tuple(other.id for other in old))


class Aging(GoodStore):
    """What is older counts less."""

    def score(self, query, unit, as_of):
        age = 0 if as_of is None or unit.time is None else max((as_of - unit.time).days, 0)
        return super().score(query, unit, as_of) / (1 + age / 365)


class Hindsight(GoodStore):
    """What is yet to be said is not there."""

    def scored(self, query, as_of):
        known = {unit.id for unit in self.units if as_of is None or unit.time is None or unit.time <= as_of}
        return [hit for hit in super().scored(query, as_of) if hit.unit in known]


class Raising(GoodStore):
    """Once closed it answers nothing."""

    def search(self, query, limit, as_of):
        self.refuse_closed()
        return super().search(query, limit, as_of)

    def write(self, units):
        self.refuse_closed()
        return super().write(units)

    def refuse_closed(self):
        if self.closed:
            raise ValueError(f"{self.pool} is closed")


def lexical(store):
    """The same, with hits only where a word is shared."""

    class Sparse(store):
        def ranked(self, query, as_of):
            return [hit for hit in super().ranked(query, as_of) if hit.score > 0]

    return Sparse


GOOD = {
    "good": lambda: memory_of(GoodStore),
    "by text alone": lambda: memory_of(TextOnly),
    "sparse": lambda: memory_of(lexical(GoodStore)),
    "refusing": lambda: memory_of(Refusing),
    "refusing, by text alone": lambda: memory_of(type("Both", (TextOnly, Refusing), {})),
    "displacing": lambda: memory_of(Displacing),
    "aging": lambda: memory_of(Aging, honours_as_of=True),
    "with hindsight": lambda: memory_of(Hindsight, honours_as_of=True),
    "several at a time": lambda: memory_of(GoodStore, concurrency=4),
    "raising once closed": lambda: memory_of(Raising),
}
