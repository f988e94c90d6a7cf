"""The command: each verb parses, calls one library function, and prints."""

import sys

from membench.errors import MembenchError
from membench.terminal.process import run_process

__all__ = ["main"]


def main() -> None:
    """Runs the command and exits: 0 measured, 1 the instrument broke, 2 wrong usage, 3 a comparison refused, 130 and
    143 interrupted.
    """
    run_process(_run, "Interrupted. What was embedded and measured is kept; no unfinished report was written.")


def _run() -> None:
    # Imported here: loading the libraries takes most of a second, in which a person may interrupt too.
    import logging

    from membench.cli.app import app
    from membench.terminal.console import errors, log_handler

    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[log_handler()])
    try:
        app()
    except MembenchError as error:
        errors.print(f"Error: {error.what}", style="bold red", soft_wrap=True)
        if error.remedy:
            errors.print(error.remedy, soft_wrap=True)
        sys.exit(error.exit_code)
