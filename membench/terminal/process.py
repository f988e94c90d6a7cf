"""How the process begins and ends, whichever way it was started."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

INTERRUPTED = 130
TERMINATED = 143


def run_process(run: Callable[[], object], interrupted: str) -> NoReturn:
    """Calls ``run`` and exits: with what it returns or exits with, 130 or 143 when interrupted or terminated, and 1
    where standard output cannot be written. ``interrupted`` is what a person is told then.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    code: object = 0
    try:
        try:
            # A run makes many small objects that live as long as it does: by default they are searched for cycles time
            # and again, for a twentieth of the whole time.
            gc.set_threshold(100_000, 50, 50)
            code = run()
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
        sys.stderr.write(f"{interrupted}\n")
    sys.exit(code)  # type: ignore[arg-type]
