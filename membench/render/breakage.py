"""What the summary says when there is no measurement."""

from pathlib import Path

from membench.errors import UsageError
from membench.render.engine import render


def breakage_markdown(kind: str, what: str, remedy: str | None, folder: Path | None = None) -> str:
    """A failure of the run: ``kind`` in a few words, ``what`` failed, and what to do, None where there is nothing.

    A template of ``folder`` that fails here is passed over: it may be what broke the run.
    """
    context = {"kind": kind, "what": what, "remedy": remedy}
    try:
        return render("breakage.md.j2", context, folder)
    except UsageError:
        return render("breakage.md.j2", context)
