"""Jinja templates to Markdown: strict about what is missing, and about what comes from outside."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from membench.memories.options import setting_text

_MARKUP = re.compile(r"([\\`*{}\[\]<>|~$])|(?<![^\W_])(_)|(_)(?![^\W_])")
_LINE_START = re.compile(r"^(\d+(?=[.)](?: |$))|(?=[-+#>=]))")
_REFERENCE = re.compile(r"([@#]|\b[Gg][Hh]-)(?=\w)")
_ADDRESS = re.compile(r"(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_ZERO_WIDTH_SPACE = "\u200b"


def escaped(value: object) -> str:
    """``value`` as one line of Markdown text: it ends no table cell, starts no markup, links nothing, mentions nobody.

    GitHub looks for mentions, references and addresses after it has read the Markdown, so a backslash does not keep
    them from it: a zero-width space does.
    """
    line = " ".join(str(value).split())
    line = _MARKUP.sub(lambda match: f"\\{match[0]}", line).replace("&", "&amp;")
    line = _LINE_START.sub(lambda match: f"{match[0]}\\", line)
    line = _REFERENCE.sub(lambda match: f"{match[0]}{_ZERO_WIDTH_SPACE}", line)
    return _ADDRESS.sub(lambda match: f"{_ZERO_WIDTH_SPACE}{match[0]}", line)


def at(cut_off: int) -> str:
    """5 as `@5`, which is no mention of the user of that name."""
    return f"@{_ZERO_WIDTH_SPACE}{cut_off}"


def grouped(number: int) -> str:
    """1531 as `1,531`."""
    return f"{number:,}"


def render(template: str, context: Mapping[str, Any]) -> str:
    """The named template with ``context``. Raises jinja2's UndefinedError for a name that it lacks."""
    return _environment().get_template(template).render(context)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("membench.render", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is Markdown: `escaped` is what guards it
    )
    environment.filters |= {"at": at, "escaped": escaped, "grouped": grouped, "setting": setting_text}
    return environment
