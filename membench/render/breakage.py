"""What the summary says when there is no measurement."""

from membench.render.engine import render


def breakage_markdown(kind: str, what: str, remedy: str | None) -> str:
    """A failure of the run: ``kind`` in a few words, ``what`` failed, and what to do, None where there is nothing."""
    return render("breakage.md.j2", {"kind": kind, "what": what, "remedy": remedy})
