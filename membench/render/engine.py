"""Jinja templates to Markdown: strict about what is missing, and closed to what a template has no business with."""

import difflib
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from membench.compare.windows import percent
from membench.errors import UsageError
from membench.memories.options import setting_text
from membench.render import text
from membench.render.markdown import at, escaped, fenced, linked
from membench.render.pool import searched
from membench.render.seen import window

TEMPLATES = Path(__file__).with_name("templates")
_FILTERS = {
    "at": at,
    "counted": text.counted,
    "escaped": escaped,
    "fenced": fenced,
    "figure": text.figure,
    "grouped": text.grouped,
    "linked": linked,
    "moved": text.moved,
    "percent": percent,
    "ranks": text.ranks,
    "searched": searched,
    "setting": setting_text,
    "signed": text.signed,
    "signed_count": text.signed_count,
    "signed_queries": text.signed_queries,
    "window": window,
}


class _Environment(ImmutableSandboxedEnvironment):
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        # A model has methods too, and some of them read files and unpickle.
        if isinstance(obj, BaseModel):
            return attr in type(obj).model_fields
        return super().is_safe_attribute(obj, attr, value)


def render(template: str, context: Mapping[str, Any], folder: Path | None = None) -> str:
    """The named template with ``context``.

    A template in ``folder`` goes before ours of the same name, and one that it lacks is ours; `membench/` before a name
    is always ours, so that one can extend what it replaces. Raises UsageError for a folder that is not there, and for
    any failure of a template while there is a folder; without one, what Jinja raises.
    """
    if folder is None:
        return _environment(None).get_template(template).render(context)
    with _failures_told(template, _existing(folder)):
        return _environment(folder).get_template(template).render(context)


def check_templates(folder: Path) -> None:
    """Raises UsageError where ``folder`` is not there, or a template in it cannot be read or parsed, or has nearly the
    name of one of ours: it would never be used.

    What a template says of names that there are not is found only as it is rendered.
    """
    for path in sorted(_existing(folder).glob("**/*.j2")):
        name = path.relative_to(folder).as_posix()
        ours = {known.name for known in TEMPLATES.glob("*.j2")}
        if name not in ours and (near := difflib.get_close_matches(name, ours, n=1, cutoff=0.9)):
            raise UsageError(f"Template {path}: membench has none of that name. Did you mean {near[0]}?")
        with _failures_told(name, folder):
            _environment(folder).get_template(name)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise UsageError(f"The folder of templates {folder} is not there, or is no folder.")
    return folder


@contextmanager
def _failures_told(template: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise UsageError(
            f"{_place(error, template, folder)}: {_cause(error, folder)}",
            "Correct the template, or remove it: then membench's own is used.",
        ) from error


@lru_cache(maxsize=2)
def _environment(folder: Path | None) -> _Environment:
    ours = FileSystemLoader(TEMPLATES)
    loaders: list[BaseLoader] = [ours, PrefixLoader({"membench": ours})]
    if folder is not None:
        loaders.insert(0, FileSystemLoader(folder))
    environment = _Environment(
        loader=ChoiceLoader(loaders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Markdown: `escaped` is what guards it
    )
    environment.filters |= _FILTERS
    return environment


def _place(error: Exception, template: str, folder: Path) -> str:
    """The template and line where it failed: the innermost one on the way."""
    if isinstance(error, TemplateSyntaxError):
        return f"Template {error.filename or error.name or template}, line {error.lineno}"
    known = (str(folder), str(TEMPLATES))
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(known)
    ]
    return f"Template {frames[-1][0]}, line {frames[-1][1]}" if frames else f"Template {folder / template}"


def _cause(error: Exception, folder: Path) -> str:
    if isinstance(error, TemplateNotFound):
        return f"there is no template {error.name}, neither in {folder} nor among membench's own"
    if isinstance(error, RecursionError):
        return "it includes itself without end"
    return str(error) or type(error).__name__
