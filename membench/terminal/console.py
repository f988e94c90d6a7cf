"""The two streams: results on standard output, everything else on standard error."""

import logging

from rich.console import Console
from rich.logging import RichHandler

_PLAIN_WIDTH = 120
_NARROWEST = 100

# What is printed holds paths and ids: a bracket or a colon in one is not markup.
output = Console(highlight=False, markup=False, emoji=False)
errors = Console(stderr=True, highlight=False, markup=False, emoji=False)

for _console in (output, errors):
    if not _console.is_terminal:
        # A log has no width; eighty columns would fold every table in it.
        _console.width = _PLAIN_WIDTH
    elif _console.width < _NARROWEST and _console is output:
        # A line that the terminal folds can still be read; a figure cut short cannot.
        _console.width = _NARROWEST


def log_handler() -> logging.Handler:
    """Warnings of the library, a line each on standard error."""
    return RichHandler(logging.WARNING, console=errors, show_time=False, show_path=False, markup=False)
