"""The shared pool: every distinct session of a corpus once, and the queries of all its instances over all of them.

Two sessions are one candidate where the same turns are written of them, whichever instances they stand in and whatever
they are called there: which of two equal texts comes back says nothing of a memory, so either is credited, and a query
whose gold holds both wants one.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from membench.corpora.corpus import Corpus
from membench.corpora.rendering import turn_text
from membench.corpora.types import Instance, Query, Session, Turn
from membench.ruler.accounting import SharedSessions
from membench.ruler.arm import Arm
from membench.ruler.fragments import Fragment, Fragmenter
from membench.ruler.scoring import Wanted
from membench.ruler.timeline import said_at, searched_at


class SharedPool:
    """Reads the corpus once, an instance at a time; its queries and counts are known when it has been read."""

    def __init__(self, corpus: Corpus, arm: Arm, pool: str) -> None:
        self._corpus = corpus
        self._arm = arm
        self._newest = corpus.survey.newest
        self._fragmenter = Fragmenter(arm.granularity, arm.chunk_size, corpus.text, pool)
        self._names: dict[bytes, str] = {}
        self._taken: set[str] = set()
        self._dates: dict[str, datetime | None] = {}
        self._ids: set[str] = set()
        self._references = self._redated = 0
        self._blank: str | None = None
        self.wanted: list[Wanted] = []

    def batches(self) -> Iterator[tuple[int, list[Fragment]]]:
        """For each instance: how many turns stand in it, and the fragments of the sessions that are new in it."""
        for instance in self._corpus.instances():
            fragments: list[Fragment] = []
            names: dict[str, str] = {}
            turns: dict[str, str] = {}
            for session in instance.sessions:
                spoken = [turn for turn in session.turns if turn_text(turn, self._corpus.text).strip()]
                names[session.id], fresh = self._candidate(session, spoken)
                one = _renamed(session, names[session.id], spoken)
                turns.update((turn.id, named.id) for turn, named in zip(spoken, one.turns, strict=True))
                if fresh:
                    fragments += self._fragmenter.fragments(one, said_at(self._arm.timeline, one, self._newest))
            self.wanted += [self._wanted(query, instance, names, turns) for query in instance.queries if query.scorable]
            yield sum(len(session.turns) for session in instance.sessions), fragments

    def sessions(self, never_stored: int) -> SharedSessions:
        """The account of the sessions, once all are read."""
        blank = self._blank is not None
        return SharedSessions(self._references, len(self._ids), len(self._names) - blank, self._redated, never_stored)

    def span_days(self) -> int:
        """Whole days from the first to the last dated session."""
        dates = [date for date in self._dates.values() if date is not None]
        return (max(dates) - min(dates)).days if dates else 0

    def _candidate(self, session: Session, spoken: Sequence[Turn]) -> tuple[str, bool]:
        """The name under which the pool knows ``session``, and whether it is new in it."""
        self._references += 1
        self._ids.add(session.id.rpartition("#")[0] if session.repeated else session.id)
        key = _fingerprint(turn_text(turn, self._corpus.text) for turn in spoken)
        if key in self._names:
            name = self._names[key]
            self._redated += self._dates[name] != session.date
            return name, False
        name, number = session.id, 2
        while name in self._taken:
            name, number = f"{session.id}#{number}", number + 1
        self._taken.add(name)
        self._names[key] = name
        self._dates[name] = session.date
        if not spoken:
            self._blank = name
        return name, True

    def _wanted(self, query: Query, instance: Instance, names: dict[str, str], turns: dict[str, str]) -> Wanted:
        homes = {turn.id: session.id for session in instance.sessions for turn in session.turns}
        wanted: dict[str, str] = {}
        for name in query.gold_sessions:
            wanted.setdefault(names[name], name)
        wanted_turns: dict[str, tuple[str, str]] = {}
        for name in query.gold_turns:
            # A blank turn is never written, and no turn of a pool has its name.
            wanted_turns.setdefault(turns.get(name, f"{names[homes[name]]}:0"), (homes[name], name))
        as_of = searched_at(self._arm.timeline, query, self._newest, self._arm.as_of)
        return Wanted(query, instance.id, as_of, wanted, wanted_turns)


def _renamed(session: Session, name: str, spoken: Sequence[Turn]) -> Session:
    """``session`` as the pool knows it: its turns, the blank ones left out, are numbered from 1."""
    turns = tuple(replace(turn, id=f"{name}:{number}") for number, turn in enumerate(spoken, start=1))
    return replace(session, id=name, turns=turns)


def _fingerprint(texts: Iterator[str]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", errors="surrogatepass")
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.digest()
