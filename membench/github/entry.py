"""What the container runs: the environment in, files and annotations out, and how it fails."""

import json
import logging
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from membench.errors import MembenchError, UsageError
from membench.github import commands
from membench.github.context import Context, read_context
from membench.github.inputs import PREFIX, read_inputs
from membench.github.ownership import for_others, give_back
from membench.terminal.process import run_process

_TOKEN = f"{PREFIX}GITHUB-TOKEN"
_HANDED_OVER = "MEMBENCH_HANDED_OVER"
_CANCELLED = "Cancelled. No unfinished report was written, and nothing was proposed."
_ISSUES = "https://github.com/membench/membench/issues"


def main() -> NoReturn:
    """Runs the action and exits: 0 measured, 1 the instrument broke, 2 an input cannot be used."""
    run_process(lambda: action(_given()), _CANCELLED)


def action(given: Mapping[str, str]) -> int:
    """Runs the action as the environment ``given`` has it. Returns the exit code; every failure is told in the log, as
    one annotation, and in the summary.
    """
    context = read_context(given)
    try:
        return _run(given, context)
    except MembenchError as error:
        kind = "an input cannot be used" if isinstance(error, UsageError) else "the instrument broke"
        _fail(context, _templates(given, context), kind, error.what, error.remedy)
        return error.exit_code
    except Exception as error:  # noqa: BLE001
        with commands.group("Traceback"):
            commands.say(traceback.format_exc())
        remedy = f"This is a fault of membench: please report it with the log at {_ISSUES}."
        _fail(context, None, "it crashed", f"{type(error).__name__}: {error}", remedy)
        return 1
    finally:
        give_back([context.workspace, Path.home()])


def _given() -> dict[str, str]:
    """The environment that the runner has set. This process then begins again without what is private in it.

    Taking a variable out is not enough: what a process was started with can be read from outside as long as it runs.
    """
    handed = os.environ.pop(_HANDED_OVER, "")
    if handed:
        with os.fdopen(int(handed), "rb") as file:
            return dict(json.load(file))
    given = dict(os.environ)
    workspace = read_context(given).workspace
    # It holds the environment until it is read: a pipe would block beyond its size.
    handle = os.memfd_create("membench", 0)
    os.write(handle, json.dumps(given).encode())
    os.lseek(handle, 0, os.SEEK_SET)
    kept = for_others(given, workspace) | {_HANDED_OVER: str(handle)}
    return os.execve(sys.executable, [sys.executable, *sys.argv], kept)  # noqa: S606


def _run(given: Mapping[str, str], context: Context) -> int:
    # Imported here: loading the libraries takes a second, in which the run may be cancelled too.
    from membench.terminal.console import log_handler

    if token := given.get(_TOKEN, "").strip():
        commands.mask(token)
    inputs = read_inputs(given, context.workspace)
    kept = for_others(os.environ, context.workspace)
    os.environ.clear()
    os.environ.update(kept)
    os.chdir(context.workspace)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[log_handler()])

    from membench.github.action import run_action

    run_action(inputs, context)
    return 0


def _templates(given: Mapping[str, str], context: Context) -> Path | None:
    """The caller's folder, where it can be used: the other inputs may be what cannot be read."""
    named = given.get(f"{PREFIX}TEMPLATES", "").strip()
    return context.workspace / named if named and (context.workspace / named).is_dir() else None


def _fail(context: Context, templates: Path | None, kind: str, what: str, remedy: str | None) -> None:
    commands.annotate("error", f"membench: {kind}", what if remedy is None else f"{what}\n{remedy}")
    try:
        from membench.render.breakage import breakage_markdown

        commands.write_summary(context.summary, breakage_markdown(kind, what, remedy, templates))
    except MembenchError as error:
        # The annotation has said what matters; a summary that cannot be written is no second failure.
        commands.say(str(error))
