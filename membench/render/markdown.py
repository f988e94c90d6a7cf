"""Strings from outside as Markdown text that stays text."""

import re

from membench.render.text import code_line, one_line

_MARKUP = re.compile(r"([\\`*{}\[\]<>|~$])|(?<![^\W_])(_)|(_)(?![^\W_])")
_LINE_START = re.compile(r"^(\d+(?=[.)](?: |$))|(?=[-+#>=]))")
_REFERENCE = re.compile(r"([@#]|\b[Gg][Hh]-)(?=\w)")
_ADDRESS = re.compile(r"(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_WEB_ADDRESS = re.compile(r"(https?://[\w.:-]*\w(?:/[\w./~%?&=+-]*[\w/=])?)([.,;:]?)", re.ASCII)
_ZERO_WIDTH_SPACE = "\u200b"


def escaped(value: object) -> str:
    """``value`` as one line of Markdown text: it ends no table cell, starts no markup, links nothing, mentions nobody.

    GitHub looks for mentions, references and addresses after it has read the Markdown, so a backslash does not keep
    them from it: a zero-width space does. It is no guard inside an HTML block, such as a `<summary>`.
    """
    line = _MARKUP.sub(lambda match: f"\\{match[0]}", one_line(value)).replace("&", "&amp;")
    line = _LINE_START.sub(lambda match: f"{match[0]}\\", line)
    line = _REFERENCE.sub(lambda match: f"{match[0]}{_ZERO_WIDTH_SPACE}", line)
    return _ADDRESS.sub(lambda match: f"{_ZERO_WIDTH_SPACE}{match[0]}", line)


def fenced(command: object) -> str:
    """``command`` as a block of code that it cannot end."""
    line = code_line(command)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", line))])
    return f"{fence}sh\n{line}\n{fence}"


def at(cut_off: int) -> str:
    """5 as `@5`, which is no mention of the user of that name."""
    return f"@{_ZERO_WIDTH_SPACE}{cut_off}"


def linked(sentence: str) -> str:
    """``sentence``, words of our own, escaped save for the web addresses that stand in it as words: they are links."""
    return " ".join(_word(word) for word in one_line(sentence).split(" "))


def _word(word: str) -> str:
    address = _WEB_ADDRESS.fullmatch(word)
    return f"<{address[1]}>{address[2]}" if address else escaped(word)
