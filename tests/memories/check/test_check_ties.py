"""Hits that are as good as each other, in an order that is drawn by lot."""

import random
import re

from membench.memories.protocol import Description, Hit, Receipt


class Words:
    """Scores the words that a text shares with the query; ``drawn`` shuffles those with equal scores."""

    def __init__(self, drawn):
        self.drawn = drawn

    def describe(self):
        return Description("words", "1", "words", own=True)

    def open(self, pool):
        return Store(self.drawn)


class Store:
    def __init__(self, drawn):
        self.drawn, self.units = drawn, []

    def write(self, units):
        self.units += [(unit.id, re.findall(r"\w+", unit.text.lower())) for unit in units]
        return [Receipt("stored") for _ in units]

    def search(self, query, limit, as_of):
        asked = set(re.findall(r"\w+", query.lower()))
        hits = [Hit(len(asked.intersection(words)) / (1 + len(words)), name) for name, words in self.units]
        found = [hit for hit in hits if hit.score]
        if self.drawn:
            random.shuffle(found)
        return sorted(found, key=lambda hit: -hit.score)[:limit]

    def close(self):
        self.units = []


def test_ties_that_are_drawn_by_lot_do_not_repeat(judge):
    broken = {name for name, result in judge(Words(drawn=True)).items() if result.holds is False}
    assert "repeatable" in broken
    assert {name for name, result in judge(Words(drawn=False)).items() if result.holds is False} == set()
