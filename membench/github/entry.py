"""What the container runs: the environment in, files and annotations out, and how it fails."""

import logging
import os
import traceback
from pathlib import Path
from typing import NoReturn

from membench.errors import MembenchError, UsageError
from membench.github import commands
from membench.github.context import Context, read_context
from membench.github.inputs import PREFIX, read_inputs
from membench.github.ownership import give_back, trusting
from membench.terminal.process import run_process

_TOKEN = f"{PREFIX}GITHUB-TOKEN"
_ISSUES = "https://github.com/membench/membench/issues"


def main() -> NoReturn:
    """Runs the action and exits: 0 measured, 1 the instrument broke, 2 an input cannot be used."""
    run_process(action)


def action() -> int:
    """Runs the action as the environment has it. Returns the exit code; every failure is told in the log, as one
    annotation, and in the summary.
    """
    context = read_context(os.environ)
    try:
        return _run(context)
    except MembenchError as error:
        kind = "an input cannot be used" if isinstance(error, UsageError) else "the instrument broke"
        _fail(context, kind, error.what, error.remedy)
        return error.exit_code
    except Exception as error:  # noqa: BLE001
        with commands.group("Traceback"):
            commands.say(traceback.format_exc())
        remedy = f"This is a fault of membench: please report it with the log at {_ISSUES}."
        _fail(context, "it crashed", f"{type(error).__name__}: {error}", remedy)
        return 1
    finally:
        give_back([context.workspace, Path.home()])


def _run(context: Context) -> int:
    # Imported here: loading the libraries takes a second, in which the run may be cancelled too.
    from membench.terminal.console import log_handler

    if token := os.environ.get(_TOKEN, "").strip():
        commands.mask(token)
    inputs = read_inputs(os.environ, context.workspace)
    # Neither the caller's command nor the memory under test has any business with the token.
    os.environ.pop(_TOKEN, None)
    os.environ.update(trusting(os.environ, context.workspace))
    os.chdir(context.workspace)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[log_handler()])

    from membench.github.action import run_action

    run_action(inputs, context)
    return 0


def _fail(context: Context, kind: str, what: str, remedy: str | None) -> None:
    commands.annotate("error", f"membench: {kind}", what if remedy is None else f"{what}\n{remedy}")
    try:
        from membench.render.breakage import breakage_markdown

        commands.write_summary(context.summary, breakage_markdown(kind, what, remedy))
    except MembenchError as error:
        # The annotation has said what matters; a summary that cannot be written is no second failure.
        commands.say(str(error))
