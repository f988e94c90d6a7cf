"""Jinja templates to Markdown: strict about what is missing, and about what comes from outside."""

import re
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~@$&-])")


def escaped(value: object) -> str:
    """``value`` as one line of Markdown text: it ends no table cell, starts no markup and mentions nobody."""
    line = " ".join(str(value).split())
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", line)


def grouped(number: int) -> str:
    """1531 as `1,531`."""
    return f"{number:,}"


def render(template: str, context: Mapping[str, Any]) -> str:
    """The named template with ``context``. Raises jinja2's UndefinedError for a name that it lacks."""
    environment = Environment(
        loader=PackageLoader("membench.render", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the output is Markdown: `escaped` is what guards it
    )
    environment.filters |= {"escaped": escaped, "grouped": grouped}
    return environment.get_template(template).render(context)
