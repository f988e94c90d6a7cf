"""The command: each verb parses, calls one library function, and prints."""

import sys

from membench.errors import MembenchError

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Runs the command and exits: 0 measured, 1 the instrument broke, 2 wrong usage, 130 interrupted."""
    try:
        _run()
    except (KeyboardInterrupt, SystemExit) as stop:
        # Typer turns an interrupt into an exit of this code, without a word.
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:
            raise
        sys.stderr.write("Interrupted. What was embedded is kept; no unfinished report was written.\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe has gone: there is nobody left to tell.
        sys.stderr.close()
        sys.exit(1)


def _run() -> None:
    # Imported here: loading the libraries takes most of a second, in which a person may interrupt too.
    import logging

    from membench.cli.app import app
    from membench.cli.console import errors, log_handler

    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[log_handler()])
    try:
        app()
    except MembenchError as error:
        errors.print(f"Error: {error.what}", style="bold red", soft_wrap=True)
        if error.remedy:
            errors.print(error.remedy, soft_wrap=True)
        sys.exit(error.exit_code)
