"""The input `pool`: a shared pool in which a unit is missing is another haystack, and no baseline."""

import sys

import pytest
from nights import HURRIED, Nights

from membench.github.proposal import repository

PICKY = b"""
class Memory:
    def describe(self):
        return {"name": "picky", "version": "1", "ephemeral": True}

    def open(self, pool):
        return Store()


class Store(list):
    def write(self, units):
        receipts = ["stored" if self or number else "refused" for number, _ in enumerate(units)]
        self.extend(unit for unit, receipt in zip(units, receipts) if receipt == "stored")
        return receipts

    def search(self, query, limit, as_of):
        words = set(query.lower().split())
        hits = [(unit.id, len(words & set(unit.text.lower().split()))) for unit in self]
        return sorted((hit for hit in hits if hit[1]), key=lambda hit: -hit[1])[:limit]

    close = list.clear
"""


@pytest.fixture
def night(hub, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(repository, "PATIENCE", HURRIED)
    nights = Nights(hub, tmp_path, capsys)
    own = {"measurements": "", "instances": "2", "memory_python": sys.executable}

    def night(**inputs):
        return nights.night(files={"picky.py": PICKY}, **own | inputs)

    return night


def test_a_shared_pool_is_measured_and_proposed(hub, night):
    found = night(memory="bm25", pool="shared")
    assert found.outputs["pull-request-operation"] == "created"
    assert hub.file("membench/baselines", "baselines/sample.now.instances-2.pool-shared.bm25.json")


def test_a_memory_that_refuses_one_unit_of_a_shared_pool_is_not_proposed(hub, night):
    # In pools of their own the same refusals stay in the denominator: that is a measurement like any other.
    assert night(memory="picky.py:Memory").outputs["pull-request-operation"] == "created"
    asked = len(hub.pull_requests)
    found = night(memory="picky.py:Memory", pool="shared")
    assert (found.outputs["pull-request-operation"], len(hub.pull_requests)) == ("none", asked)
    assert "the memory refused 1 of " in found.summary
    assert "units of the shared pool" in found.summary
    assert "cannot become a baseline" in found.summary
    assert "::error" not in found.log
