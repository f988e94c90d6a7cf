"""`--memory SPEC`: what it names, and the memory itself, open for the time of a run."""

import difflib
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from membench.embedding.embedder import Embedder
from membench.errors import UsageError
from membench.memories.bridges import serve
from membench.memories.bridges.command import command_memory
from membench.memories.bridges.python import python_memory, takes_embedder
from membench.memories.bridges.service import service_memory, shown
from membench.memories.catalog import EMBEDDING_MEMORIES, SETTINGS, build_memory
from membench.memories.protocol import Memory

TIMEOUT = 60.0
"""Seconds that a call of an own memory may take, unless asked otherwise."""

_FORMS = (
    f"It is one of {', '.join(SETTINGS)}; package.module:factory or file.py:factory; cmd:COMMAND, as in "
    "'cmd:node memory.mjs'; or http://host:port."
)


@dataclass(frozen=True, slots=True)
class MemorySpec:
    """What a SPEC names. ``command`` is what is run: of a command, or of a Python memory with its own interpreter.

    ``shown`` is ``text`` without a password.
    """

    kind: Literal["built-in", "python", "command", "http"]
    text: str
    shown: str
    command: tuple[str, ...] = ()


def parse_spec(spec: str, python: str | Path | None = None) -> MemorySpec:
    """What ``spec`` names; ``python`` is the interpreter for a Python memory. Raises UsageError for what is nothing."""
    parsed = _parsed(spec)
    if python is None:
        return parsed
    if parsed.kind != "python":
        raise UsageError(f"--memory-python is for a memory in Python, and {parsed.shown} is none: leave it out.")
    return MemorySpec("command", spec, spec, (str(python), serve.__file__, spec))


def wants_embedder(spec: str, python: str | Path | None = None, timeout: float = TIMEOUT) -> bool:
    """Whether the memory embeds with the run's embedder. Raises UsageError for a SPEC that names nothing.

    A Python memory is imported to see, within ``timeout`` seconds, else MemoryCallError is raised.
    """
    kind = parse_spec(spec).kind
    if kind == "python":
        return python is None and takes_embedder(spec, timeout)
    return kind == "built-in" and spec in EMBEDDING_MEMORIES


def is_python(spec: str) -> bool:
    """Whether it names a Python object of the caller's own. Raises UsageError for a SPEC that names nothing."""
    return parse_spec(spec).kind == "python"


def file_of(spec: str) -> Path | None:
    """The file of Python that ``spec`` names, None where it names none."""
    place = spec.rpartition(":")[0]
    return Path(place) if parse_spec(spec).kind == "python" and place.endswith(".py") else None


@contextmanager
def open_memory(
    spec: str,
    options: Mapping[str, str],
    embedder: Embedder | None,
    *,
    python: str | Path | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[Memory]:
    """The memory that ``spec`` names; at the end its process or its connections are ended.

    ``timeout`` in seconds bounds each call of an own memory. Raises UsageError for a SPEC, an option or an interpreter
    that cannot be used; the memory's calls raise MemoryCallError.
    """
    if not timeout > 0.0:
        raise UsageError(f"A call of a memory cannot end within {timeout:g} s.", "Allow more than 0 seconds.")
    parsed = parse_spec(spec, python)
    if parsed.kind == "built-in":
        yield build_memory(spec, options, embedder)
    elif parsed.kind == "python":
        with python_memory(spec, options, embedder, timeout) as own:
            yield own
    elif parsed.kind == "command":
        with command_memory(parsed.shown, parsed.command, options, timeout) as remote:
            yield remote
    else:
        with service_memory(spec, options, timeout) as remote:
            yield remote


def _parsed(spec: str) -> MemorySpec:
    if spec in SETTINGS:
        return MemorySpec("built-in", spec, spec)
    if spec.startswith("cmd:"):
        return MemorySpec("command", spec, spec, _words(spec))
    if spec.startswith(("http://", "https://")):
        _check_address(spec)
        return MemorySpec("http", spec, shown(spec))
    place, colon, name = spec.rpartition(":")
    if colon and _identifiers(name) and (place.endswith(".py") or _identifiers(place)):
        return MemorySpec("python", spec, spec)
    raise UsageError(f"There is no memory {shown(spec)!r}.{_hint(spec)}", _FORMS)


def _words(spec: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(spec.removeprefix("cmd:")))
    except ValueError as error:
        raise UsageError(f"The memory {spec} is no command: {error}", "A shell's quotes are understood.") from error
    if not words:
        raise UsageError(f"The memory {spec} names no command.", _FORMS)
    return words


def _check_address(spec: str) -> None:
    try:
        parts = urlsplit(spec)
        good = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
        parts = urlsplit("")
    if not good or parts.query or parts.fragment:
        raise UsageError(
            f"The memory {spec.rpartition('@')[2]} is no address: expected a host, perhaps a port and a prefix.",
            "For example http://127.0.0.1:8080/memory.",
        )


def _identifiers(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _hint(spec: str) -> str:
    head, colon, rest = spec.partition(":")
    near = difflib.get_close_matches(spec, SETTINGS, n=1)
    if near:
        return f" Did you mean {near[0]}?"
    if spec.endswith(".py") or spec.endswith(".py:"):
        return f" The name of its factory is missing: {spec.rstrip(':')}:Memory, for example."
    if colon and rest.partition("/")[0].isdecimal():
        return f" Did you mean http://{spec}?"
    if difflib.get_close_matches(head.lower(), ["cmd", "command", "http", "https"], n=1) and colon:
        scheme = difflib.get_close_matches(head.lower(), ["cmd", "command", "http", "https"], n=1)[0]
        return f" Did you mean {'cmd:' if scheme in ('cmd', 'command') else scheme + '://'}{rest.lstrip('/')}?"
    return ""
