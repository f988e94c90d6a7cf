"""Hits by name, and calls and answers as an example shows them."""

import json
from collections.abc import Sequence
from datetime import datetime

from membench.memories.protocol import Hit, Unit

_SHOWN_CHARS = 60
_SHOWN_HITS = 5


def name_of(hit: Hit) -> str | None:
    """The id of a hit or, without one, its text."""
    return hit.text if hit.unit is None else hit.unit


def names_of(hits: Sequence[Hit]) -> list[str | None]:
    """The ids, or texts, of a list."""
    return [name_of(hit) for hit in hits]


def place_of(unit: Unit, hits: Sequence[Hit]) -> int | None:
    """The 1-based place of ``unit`` among ``hits``, by its id or, from a memory without ids, by its text."""
    return next((place for place, hit in enumerate(hits, start=1) if is_of(hit, unit)), None)


def is_of(hit: Hit, unit: Unit) -> bool:
    """Whether ``hit`` is of ``unit``. A store may strip its texts."""
    if hit.unit is not None:
        return hit.unit == unit.id
    return hit.text is not None and hit.text.strip() == unit.text.strip()


def printable(text: str) -> str:
    """``text`` with an escape for what UTF-8 cannot write."""
    return text.encode(errors="backslashreplace").decode()


def quoted(text: str) -> str:
    """The beginning of ``text`` in quotes."""
    if len(text) <= _SHOWN_CHARS:
        return json.dumps(text, ensure_ascii=False)
    return f"{json.dumps(text[:_SHOWN_CHARS], ensure_ascii=False)}... ({len(text):,} characters)"


def shown_search(query: str, limit: int, as_of: datetime | None = None) -> str:
    """A search as an example shows it."""
    date = "" if as_of is None else f", as_of={as_of.isoformat()}"
    return f"search({quoted(query)}, limit={limit}{date})"


def shown_hits(hits: Sequence[Hit]) -> str:
    """An answer as an example shows it."""
    if not hits:
        return "no hit"
    first = ", ".join(f"{quoted(name_of(hit) or '')} {hit.score}" for hit in hits[:_SHOWN_HITS])
    return f"{len(hits)} {'hit' if len(hits) == 1 else 'hits'}: {first}{', ...' if len(hits) > _SHOWN_HITS else ''}"
