"""The rules `repeatable` and `concurrent`: the same search gives the same list."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager

from membench.memories.check.bench import LIMIT, Bench, Broken, NotJudged, Pool
from membench.memories.check.hits import names_of, shown_hits, shown_search
from membench.memories.check.texts import SENTENCES, mixed_queries
from membench.memories.protocol import Hit

# Every one of them has as many words, and as many of the question: what is drawn by lot is drawn among them.
_PLACES = ("attic", "barn", "cellar", "den", "foyer", "garage", "hall", "kitchen", "library", "porch", "study", "yard")
_ALIKE = tuple(f"The lamp in the {place} is lit." for place in _PLACES)
_OF_ALL = "Which lamp is lit?"
_TIES_ASKED = 5
_ROUNDS = 2
_RELATIVE = 1e-3
_SWITCH_SECONDS = 1e-5
_LOOK = 0.1


def differ(one: Sequence[Hit], other: Sequence[Hit]) -> bool:
    """Whether two lists name other units, or score them otherwise by more than a thousandth."""
    return names_of(one) != names_of(other) or any(
        abs(a.score - b.score) > _RELATIVE * max(abs(a.score), abs(b.score)) for a, b in zip(one, other, strict=True)
    )


def repeatable(bench: Bench) -> str:
    """Asked again at once, and after other searches."""
    queries = list(mixed_queries())[:6]
    with bench.pool() as pool:
        pool.fill(SENTENCES)
        first = [pool.search(query) for query in queries]
        if not any(first):
            raise NotJudged("No search gave a hit.")
        for when in ("after other searches", "after more of them"):
            for query, before in zip(queries, first, strict=True):
                for again in (pool.search(query), pool.search(query)):
                    if differ(before, again):
                        raise Broken(
                            f"The same search gave another list {when}.",
                            f"{shown_search(query, LIMIT)}, twice",
                            f"{shown_hits(before)}; then {shown_hits(again)}",
                        )
    with bench.pool() as pool:
        pool.fill(_ALIKE)
        before = pool.search(_OF_ALL)
        for again in (pool.search(_OF_ALL) for _ in range(_TIES_ASKED)):
            if differ(before, again):
                raise Broken(
                    "The same search gave another list, among texts that are as good as each other.",
                    f"{shown_search(_OF_ALL, LIMIT)}, twice",
                    f"{shown_hits(before)}; then {shown_hits(again)}",
                )
    return f"{len(queries)} searches, each asked {2 * 2 + 1} times among the others, gave the same lists."


def concurrent(bench: Bench) -> str:
    """As many searches at a time as it says it takes give what they give one after the other."""
    if bench.description is None:
        raise NotJudged("It does not describe itself.")
    number = bench.description.concurrency
    if number == 1:
        raise NotJudged("It says that it takes one search at a time.")
    queries = [query for _ in range(0, 2 * number, len(SENTENCES)) for query in mixed_queries()]
    with bench.pool() as pool:
        pool.fill(SENTENCES)
        alone = [pool.search(query) for query in queries]
        if [names_of(hits) for hits in alone] != [names_of(pool.search(query)) for query in queries]:
            raise NotJudged("Its searches do not repeat: see the rule `repeatable`.")
        for _ in range(_ROUNDS):
            together = _together(pool, queries, number)
            for query, one, other in zip(queries, alone, together, strict=True):
                if names_of(one) != names_of(other):
                    raise Broken(
                        f"With {number} searches at a time, one gave another list than alone.",
                        f"{shown_search(query, LIMIT)} among others",
                        f"{shown_hits(other)}; alone {shown_hits(one)}",
                    )
    return f"{len(queries)} searches, {number} at a time, gave what they gave one after the other."


def _together(pool: Pool, queries: Sequence[str], number: int) -> list[list[Hit]]:
    """The hits of each query. Raises the first Broken of a search, and one where they do not end in time."""
    waiting = list(enumerate(queries))
    answers: dict[int, list[Hit]] = {}
    failures: list[Broken] = []

    def work() -> None:
        while waiting and not failures:
            try:
                place, query = waiting.pop()
            except IndexError:
                return
            try:
                answers[place] = pool.search(query)
            except Broken as failure:
                failures.append(failure)

    # Not the threads of a pool: the process could not end before a search that never does.
    threads = [threading.Thread(target=work, daemon=True, name=f"membench-check-{n}") for n in range(number)]
    with _often_switched():
        for thread in threads:
            thread.start()
        _wait(threads, answers, pool.bench.timeout)
    if failures:
        raise failures[0]
    if any(thread.is_alive() for thread in threads):
        pool.bench.seconds_lost += pool.bench.timeout
        raise Broken(
            f"With {number} searches at a time, there was no answer for {pool.bench.timeout:g} s.",
            f"{len(queries)} searches, {number} at a time",
            f"{len(answers)} answers",
        )
    return [answers[place] for place in range(len(queries))]


def _wait(threads: Sequence[threading.Thread], answers: Sized, seconds: float) -> None:
    """Until all threads have ended, or there was no new answer for so long."""
    answered, deadline = -1, 0.0
    while any(thread.is_alive() for thread in threads):
        if len(answers) > answered:
            answered, deadline = len(answers), time.monotonic() + seconds
        elif time.monotonic() > deadline:
            return
        max(threads, key=threading.Thread.is_alive).join(_LOOK)


@contextmanager
def _often_switched() -> Iterator[None]:
    """Threads of this process take turns so often that what they share by mistake shows itself."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
