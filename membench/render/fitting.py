"""Cutting a document to a size that GitHub takes, and saying so in it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from membench.render.text import counted, grouped

Measure = Callable[[str], int]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_FOLD = re.compile(r"<(/?)details\b", re.IGNORECASE)
_MOST_NAMED = 20
_LONGEST_NAME = 200
_FIRST_CUT = "The first section is cut short.\n\n"


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    text: str

    @property
    def item(self) -> str:
        """As it is listed where it is left out."""
        name = self.name if len(self.name) <= _LONGEST_NAME else "a section with a long heading"
        return f"- {name} ({counted(len(self.text), 'character')})\n"


class _Reader:
    """What is open after the lines that it was fed: a code fence, and foldings."""

    def __init__(self) -> None:
        self.fence = ""
        self.folds = 0

    def feed(self, line: str) -> None:
        mark = _FENCE.match(line)
        if self.fence:
            if mark and mark[1].startswith(self.fence) and not mark[2].strip():
                self.fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            self.fence = mark[1]
        else:
            for closing in _FOLD.findall(line):
                self.folds = max(0, self.folds - 1) if closing else self.folds + 1

    @property
    def closing(self) -> str:
        """What closes all that is open."""
        return (f"{self.fence}\n" if self.fence else "") + "\n</details>\n" * self.folds


def utf8_bytes(text: str) -> int:
    """How many bytes ``text`` is in UTF-8."""
    return len(text.encode())


def utf16_units(text: str) -> int:
    """How many code units ``text`` is in UTF-16, a line break counted as the two that a form makes of it."""
    return len(text.encode("utf-16-le")) // 2 + text.count("\n")


def fit(document: str, limit: int, measure: Measure, whole: str) -> str:
    """``document``; where ``measure`` of it is over ``limit``, without the sections that do not fit.

    A section begins at a line `## ...` outside code and foldings. Each that still has room is kept, in order. The end
    names those left out, with their lengths in characters, and says ``whole``: Markdown that tells where the whole
    document is. Where the first section alone is too long, it is cut at the end of a line and nothing comes after. The
    limit has to leave room for that note, at most some 5,000 characters and ``whole``.
    """
    if measure(document) <= limit:
        return document
    sections = list(_sections(document))
    room = limit - _longest_note(sections, measure, whole)
    kept: list[str] = []
    left_out: list[_Section] = []
    for section in sections:
        size = measure(section.text)
        if size <= room:
            kept.append(section.text)
            room -= size
        elif not kept:
            return _cut(section, room, measure) + _note(sections[1:], whole, _FIRST_CUT)
        else:
            left_out.append(section)
    return "".join(kept) + _note(left_out, whole)


def _sections(document: str) -> Iterator[_Section]:
    name, lines, reader = "", list[str](), _Reader()
    for line in _lines(document):
        if line.startswith("## ") and lines and not reader.fence and not reader.folds:
            yield _Section(name, "".join(lines))
            lines = []
        if not lines:
            name = line.removeprefix("## ").strip()
        lines.append(line)
        reader.feed(line)
    yield _Section(name, "".join(lines))


def _lines(text: str) -> list[str]:
    # Not splitlines: a form feed or a line separator ends no line of Markdown.
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _cut(section: _Section, room: int, measure: Measure) -> str:
    """As many lines as there is room for, with what they leave open closed."""
    reader, best, closing, used = _Reader(), 0, "", 0
    lines = _lines(section.text)
    for place, line in enumerate(lines, 1):
        reader.feed(line)
        used += measure(line)
        if used > room:
            break
        if used + measure(reader.closing) <= room:
            best, closing = place, reader.closing
    return "".join(lines[:best]) + closing


def _note(left_out: Sequence[_Section], whole: str, first: str = "") -> str:
    named = "".join(section.item for section in left_out[:_MOST_NAMED])
    more = len(left_out) - _MOST_NAMED
    rest = f"- and {grouped(more)} more\n" if more > 0 else ""
    listed = f"Sections that do not fit: {grouped(len(left_out))}.\n\n{named}{rest}\n" if left_out else ""
    return f"\n## Left out for length\n\n{first}{listed}{whole}\n"


def _longest_note(sections: Sequence[_Section], measure: Measure, whole: str) -> int:
    by_length = sorted(sections, key=lambda section: measure(section.item), reverse=True)
    return measure(_note(by_length, whole, _FIRST_CUT))
