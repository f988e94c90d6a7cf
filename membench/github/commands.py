"""What the runner reads: workflow commands on standard output, and the files of outputs and of the summary."""

import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from membench.files.failures import storage_errors

# The runner cuts an annotation beyond this.
_LONGEST_ANNOTATION = 4096


def say(line: str) -> None:
    """A line of the log that is no command, whatever it begins with."""
    for part in line.splitlines() or [""]:
        sys.stdout.write(f" {part}\n" if part.lstrip().startswith("::") or "##[" in part else f"{part}\n")
    sys.stdout.flush()


def annotate(kind: Literal["error", "warning", "notice"], title: str, text: str) -> None:
    """An annotation of the run."""
    shown = text if len(text) <= _LONGEST_ANNOTATION else f"{text[: _LONGEST_ANNOTATION - 3]}..."
    _command(f"{kind} title={_property(title)}", shown)


def mask(secret: str) -> None:
    """Keeps ``secret`` out of the log from here on."""
    for line in filter(None, map(str.strip, secret.splitlines())):
        _command("add-mask", line)


@contextmanager
def group(title: str) -> Iterator[None]:
    """Folds what the body writes to the log under ``title``."""
    _command("group", title)
    try:
        yield
    finally:
        sys.stderr.flush()
        _command("endgroup", "")


def write_outputs(path: Path | None, outputs: Mapping[str, str]) -> None:
    """Sets the outputs of the step; ``path`` None is a run without a runner, which reads none."""
    if path is None:
        return
    lines = []
    for name, value in outputs.items():
        # No value can end its own block: the delimiter is drawn anew each time.
        end = f"membench-{secrets.token_hex(16)}"
        lines.append(f"{name}<<{end}\n{value}\n{end}\n")
    _append(path, "".join(lines))


def write_summary(path: Path | None, markdown: str) -> None:
    """Adds ``markdown`` to the summary of the step."""
    if path is not None:
        _append(path, markdown if markdown.endswith("\n") else f"{markdown}\n")


def _append(path: Path, text: str) -> None:
    with storage_errors("written", path), path.open("a", encoding="utf-8") as file:
        file.write(text)


def _command(command: str, text: str) -> None:
    sys.stdout.write(f"::{command}::{_data(text)}\n")
    sys.stdout.flush()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
