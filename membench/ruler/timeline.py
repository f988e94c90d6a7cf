"""Timelines: when each unit is said to have been said, and which time it is at a search. No clock is ever read.

`newest` is the latest date of the pool that is written to and searched, None where it has none.
"""

from datetime import datetime
from typing import Literal

from membench.corpora.types import Instance, Query, Session

Timeline = Literal["now", "anchored", "literal", "asked"]
"""`now`: everything was said just now, so that age weighs nothing. `anchored`: the corpus's own dates, searched at
the newest of them. `literal`: the corpus's own dates, searched at a date that the run is given. `asked`: searched at
the date on which the query is asked."""

TIMELINES: tuple[Timeline, ...] = ("now", "anchored", "literal", "asked")


def newest_of(instance: Instance) -> datetime | None:
    """The latest date of a session that has turns; None where there is none."""
    return max((session.date for session in instance.sessions if session.turns and session.date), default=None)


def said_at(timeline: Timeline, session: Session, newest: datetime | None) -> datetime | None:
    """The time that a memory is given for what stands in ``session``, None where unknown."""
    return newest if timeline == "now" else session.date


def searched_at(timeline: Timeline, query: Query, newest: datetime | None, as_of: datetime | None) -> datetime | None:
    """The time that a memory is told it is when ``query`` is asked, None where unknown."""
    if timeline == "literal":
        return as_of
    if timeline == "asked":
        return query.asked
    return newest


def span_days(instance: Instance) -> int:
    """Whole days from the first to the last dated session."""
    dates = [session.date for session in instance.sessions if session.date is not None]
    return (max(dates) - min(dates)).days if dates else 0
