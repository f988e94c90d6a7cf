"""Dates as the corpora write them, to naive datetimes: no corpus states a time zone, and only differences are used."""

from collections.abc import Callable
from datetime import datetime


def _parser(pattern: str) -> Callable[[str | None], datetime | None]:
    def parse(text: str | None) -> datetime | None:
        if text is None:
            return None
        try:
            return datetime.strptime(text.strip(), pattern)
        except ValueError:
            return None

    return parse


locomo_date = _parser("%I:%M %p on %d %B, %Y")
"""`1:56 pm on 8 May, 2023`; None where it does not parse."""

longmemeval_date = _parser("%Y/%m/%d (%a) %H:%M")
"""`2023/05/30 (Tue) 23:40`; None where it does not parse."""


def iso_date(text: str | None) -> datetime | None:
    """`2024-03-05T18:30:00`, a zone converted away; None where it does not parse."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            return moment
        return (moment - (moment.utcoffset() or moment - moment)).replace(tzinfo=None)
    # In year 1 and year 9999 a zone can lead out of the calendar.
    except (ValueError, OverflowError):
        return None
