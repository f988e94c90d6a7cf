"""Text from outside, and figures, as short plain strings: shared by the terminal and by Markdown."""

import re
from collections.abc import Sequence

# Control characters, those that turn the writing direction, halves of surrogate pairs, and invisible tags: on a
# terminal they act instead of being shown, and in a browser they make a line read as another.
_ACTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_BREAK = re.compile("[\u2028\u2029]")
_REPLACEMENT = "\ufffd"
EMPTY = "\u2013"
_DECIMALS = 4
_MOST_DECIMALS = 16


def one_line(value: object) -> str:
    """``value`` on one line, with a replacement character for each that would act rather than be shown."""
    return _ACTIVE.sub(_REPLACEMENT, " ".join(str(value).split()))


def code_line(value: object) -> str:
    """``value`` on one line, its blanks kept, for what is copied: a replacement character shows where it cannot be."""
    return _BREAK.sub(_REPLACEMENT, _ACTIVE.sub(_REPLACEMENT, str(value)))


def grouped(number: int) -> str:
    """1531 as `1,531`."""
    return f"{number:,}"


def counted(number: int, what: str) -> str:
    """`1 query`, `1,531 queries`."""
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def figure(value: float | None) -> str:
    """A figure with four decimals, a dash for None."""
    return EMPTY if value is None else f"{value:.{_DECIMALS}f}"


def signed(delta: float | None) -> str:
    """A difference with its sign and four decimals, `0` only where it is exactly that, a dash for None.

    A smaller one has as many decimals as show its first digit.
    """
    if delta is None:
        return EMPTY
    if not delta:
        return "0"
    for decimals in range(_DECIMALS, _MOST_DECIMALS + 1):
        text = f"{delta:+.{decimals}f}"
        if text.strip("+-0."):
            return text
    return f"{delta:+.0e}"


def moved(delta: float | None) -> str:
    """A difference behind a sign that shows its direction: `▲ +0.0105`, `▼ -0.0105`, `= 0`."""
    if delta is None:
        return EMPTY
    return f"{'=' if not delta else '▲' if delta > 0 else '▼'} {signed(delta)}"


def in_queries(delta: float, queries: int) -> int:
    """What a difference of recall_all over so many queries is in queries: each counts 0 or 1."""
    return round(delta * queries)


def signed_count(number: int) -> str:
    """`+3`, `-3`, `0`."""
    return f"{number:+,}" if number else "0"


def signed_queries(number: int) -> str:
    """`+3 queries`, `-1 query`, `0 queries`."""
    return f"{signed_count(number)} {'query' if abs(number) == 1 else 'queries'}"


def ranks(found: Sequence[int | None]) -> str:
    """Ranks separated by commas, a dash for gold that did not come back."""
    return ", ".join(EMPTY if rank is None else str(rank) for rank in found)
