"""One episodic search with diversity reranking, in a store of as many rows as candidates and in a larger one."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from statistics import median
from time import perf_counter

from benchmarks.result import Result
from membench.embedding.cached import CachedEmbedder
from membench.embedding.toy import ToyEmbedder
from membench.memories.episodic.memory import EpisodicMemory
from membench.memories.episodic.options import EpisodicSettings
from membench.memories.protocol import Unit

_CANDIDATES = 1000
_WORDS_A_TEXT = 25
_VOCABULARY = 5000
_QUERIES = 200
_AT_MOST_MS = 2.0
_NOW = datetime(2024, 1, 1)


def benchmarks() -> Iterator[Result]:
    """Milliseconds a search: texts of words drawn as in natural language, few of them often."""
    for rows in (_CANDIDATES, 5 * _CANDIDATES):
        spent = _milliseconds(rows)
        yield Result(
            f"episodic search over {rows:,} rows, {_CANDIDATES:,} candidates, median",
            f"{spent:.2f} ms",
            f"at most {_AT_MOST_MS:g} ms",
            spent <= _AT_MOST_MS,
        )


def _milliseconds(rows: int) -> float:
    chance = Random(1)
    embedder = CachedEmbedder(ToyEmbedder(), None)
    memory = EpisodicMemory(EpisodicSettings(dedup=False, candidates=_CANDIDATES), embedder)
    store = memory.open("benchmark")
    units = [Unit(f"u{row}", "s", _text(chance), _NOW - timedelta(days=chance.randrange(90))) for row in range(rows)]
    store.write(units)
    queries = [_text(chance) for _ in range(_QUERIES)]
    embedder.embed(queries, "query")
    seconds = []
    for query in queries:
        begun = perf_counter()
        store.search(query, 20, _NOW)
        seconds.append(perf_counter() - begun)
    store.close()
    return 1000 * median(seconds)


def _text(chance: Random) -> str:
    return " ".join(f"w{int(_VOCABULARY ** chance.random())}" for _ in range(_WORDS_A_TEXT))
