"""A small corpus of a test's own making, and a memory that does what a test says."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from membench.corpora.corpus import Corpus, Reading, open_corpus
from membench.corpora.selection import Slice
from membench.memories.protocol import Description, Hit, Receipt, Unit


@dataclass
class ScriptedMemory:
    """Keeps every unit and gives them back in the order of writing, unless it is told otherwise."""

    describing: Callable[[], Any] = lambda: Description("scripted", "1", "none")
    opening: Callable[[], Any] = lambda: None
    writing: Callable[[Sequence[Unit]], Any] = lambda units: [Receipt("stored") for _ in units]
    searching: Callable[[Sequence[Unit], str], Any] = lambda units, query: [
        Hit(-float(place), unit.id) for place, unit in enumerate(units)
    ]
    closing: Callable[[], Any] = lambda: None
    pools: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    searches: list[tuple[str, int, datetime | None]] = field(default_factory=list)
    closed: int = 0

    def describe(self) -> Any:
        return self.describing()

    def open(self, pool: str) -> "ScriptedStore":
        self.opening()
        self.pools.append(pool)
        return ScriptedStore(self)


class ScriptedStore:
    def __init__(self, memory: ScriptedMemory) -> None:
        self.memory = memory
        self.units: list[Unit] = []

    def write(self, units: Sequence[Unit]) -> Any:
        self.units += units
        self.memory.units += units
        return self.memory.writing(units)

    def search(self, query: str, limit: int, as_of: datetime | None) -> Any:
        self.memory.searches.append((query, limit, as_of))
        return self.memory.searching(self.units, query)

    def close(self) -> None:
        self.memory.closed += 1
        self.memory.closing()


@pytest.fixture
def memory_that() -> type[ScriptedMemory]:
    return ScriptedMemory


@pytest.fixture
def document() -> dict[str, Any]:
    """Three sessions, of which the second is the newest and the third has no date; two queries that are scored."""

    def turn(name: str, text: str) -> dict[str, str]:
        return {"id": name, "role": "user", "speaker": "Ann", "text": text}

    def query(name: str, sessions: list[str], turns: list[str], **more: Any) -> dict[str, Any]:
        category = {"name": "single-hop", "number": 1}
        return {"id": name, "text": f"{name}?", "category": category} | {
            "gold_sessions": sessions,
            "gold_turns": turns,
            **more,
        }

    sessions = [
        {"id": "answer_1", "date": "2024-01-01T10:00:00", "turns": [turn("gold-a", "I moved."), turn("b", " Far. ")]},
        {"id": "other", "date": "2024-03-01T10:00:00", "turns": [turn("c", "I got a dog."), turn("d", "  ")]},
        {"id": "undated", "date": None, "turns": [turn("e", "Rex is his name.")]},
    ]
    queries = [
        query("q1", ["answer_1"], ["gold-a"], asked="2024-04-01T09:00:00"),
        query("q2", ["answer_1", "undated"], ["b", "e"], asked="2024-05-01T09:00:00"),
        query("never", [], [], unanswerable=True),
    ]
    return {"schema": "membench.corpus/1", "instances": [{"id": "i1", "sessions": sessions, "queries": queries}]}


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    def opened(content: object, **reading: Any) -> Corpus:
        path = tmp_path / "own.json"
        path.write_text(json.dumps(content))
        return open_corpus(str(path), tmp_path, Reading(**reading), "membench")

    return opened


@pytest.fixture
def corpus(corpus_of: Callable[..., Corpus], document: dict[str, Any]) -> Corpus:
    return corpus_of(document)


@pytest.fixture
def locomo_corpus(locomo_file: Path) -> Corpus:
    """The first two conversations."""
    return open_corpus(str(locomo_file), locomo_file.parent, Reading(part=Slice(instances=2)), "locomo")
