"""The command: each verb parses, calls one library function, and prints."""

import gc
import os
import signal
import sys

from membench.errors import MembenchError

__all__ = ["main"]

INTERRUPTED = 130
TERMINATED = 143


def main() -> None:
    """Runs the command and exits: 0 measured, 1 the instrument broke, 2 wrong usage, 130 and 143 interrupted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    code: object = 0
    try:
        try:
            _run()
        except SystemExit as stop:
            code = stop.code
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        sys.stderr.write(f"Error: standard output cannot be written: {error.strerror or error}\n")
        # Python would try again as it exits, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    # Typer turns an interrupt into an exit of this code, without a word.
    if code in (INTERRUPTED, TERMINATED):
        sys.stderr.write("Interrupted. What was embedded is kept; no unfinished report was written.\n")
    sys.exit(code)  # type: ignore[arg-type]


def _run() -> None:
    # A run makes many small objects that live as long as it does: by default they are searched for cycles time and
    # again, for a twentieth of the whole time.
    gc.set_threshold(100_000, 50, 50)
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
