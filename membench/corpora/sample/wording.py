"""From a story's line to the words that are said.

In a text may stand:

{sister} {dog}          a person, or a slot of the story
<this|that|other>       one choice for each reading of the story, so that facts agree wherever they recur
[Hello.|Quick one.|]    one of these, drawn by chance
{d+9} {d2+9}            the day nine days after this session, or after the story's second: "16 March"
{m} {m1}                the month of this session, or of the story's first: "March"
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from membench.corpora.sample.chance import Chance

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
READING = re.compile(r"<([^<>]*\|[^<>]*)>")
DRAWN = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
DATE = re.compile(r"\{([dm])(\d?)([+-]\d+)?\}")
SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """How one telling of a story is put into words. ``dates`` are those of its sessions, in order."""

    reading: int
    slots: Mapping[str, str]
    dates: Sequence[datetime]
    chance: Chance

    def say(self, text: str, scene: int | None = None) -> str:
        """``text`` in words. ``scene`` is the index of the session in which it is said; a query has none."""
        text = READING.sub(lambda match: match[1].split("|")[self.reading], text)
        text = DRAWN.sub(lambda match: self.chance.choice(match[1].split("|")), text)
        text = DATE.sub(lambda match: self._date(match, scene), text)
        text = SLOT.sub(lambda match: self.slots[match[1]], text)
        return re.sub(r" {2,}", " ", text).strip()

    def _date(self, match: re.Match[str], scene: int | None) -> str:
        kind, number, offset = match.groups()
        index = int(number) - 1 if number else scene
        if index is None:
            raise ValueError(f"{match[0]} outside a session must name one")
        day = self.dates[index] + timedelta(days=int(offset or 0))
        month = MONTHS[day.month - 1]
        return month if kind == "m" else f"{day.day} {month}"
