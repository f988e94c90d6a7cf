"""The command: each verb parses, calls one library function, and prints."""

import logging
import sys

from membench.cli.app import app
from membench.cli.console import errors, log_handler
from membench.errors import MembenchError

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Runs the command and exits: 0 measured, 1 the instrument broke, 2 wrong usage, 130 interrupted."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[log_handler()])
    try:
        app()
    except MembenchError as error:
        errors.print(f"Error: {error.what}", style="bold red", soft_wrap=True)
        if error.remedy:
            errors.print(error.remedy, soft_wrap=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        # Typer turns an interrupt into an exit of this code, without a word.
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:
            raise
        errors.print("Interrupted. What was embedded is kept; no unfinished report was written.", soft_wrap=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe has gone: there is nobody left to tell.
        sys.stderr.close()
        sys.exit(1)
