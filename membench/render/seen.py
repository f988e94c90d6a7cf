"""How much of the texts the model saw, in plain sentences: what stands beside every figure."""

from collections.abc import Iterator

from membench.compare.windows import percent
from membench.render.text import counted
from membench.reports.comparison import Comparison, Side
from membench.reports.measurement import Embedder, Inputs, Lengths, Measurement


def seen(measurement: Measurement) -> list[str]:
    """Of what was written and, if any was cut, of the queries; without full stops, nothing without an embedder."""
    embedder, inputs = measurement.embedder, measurement.inputs
    if embedder is None or inputs is None:
        return []
    return list(_told(embedder.input_window, embedder.model_window, inputs))


def seen_by_both(comparison: Comparison) -> list[str]:
    """The same of both sides, each named, or told once where they agree."""
    sides = [_of(comparison.baseline), _of(comparison.candidate)]
    if sides[0] == sides[1]:
        return [f"baseline and candidate: {told}" for told in sides[0]]
    return [f"{name}: {told}" for name, side in zip(("baseline", "candidate"), sides, strict=True) for told in side]


def input_rows(measurement: Measurement) -> list[tuple[str, Lengths]]:
    """What was embedded of each kind, by name; nothing without an embedder."""
    inputs = measurement.inputs
    return [] if inputs is None else [("written texts", inputs.documents), ("queries", inputs.queries)]


def window(embedder: Embedder) -> str:
    """The input window in tokens, beside the model's own limit."""
    own, limit = embedder.input_window, embedder.model_window
    if own is None:
        return "none"
    if own == limit:
        return f"{own:,} tokens, all that the model takes"
    return f"{own:,} tokens" if limit is None else f"{own:,} of the {limit:,} tokens that the model takes"


def _of(side: Side | None) -> list[str]:
    if side is None or side.seen is None:
        return []
    return list(_told(side.seen.input_window, side.seen.model_window, side.seen.inputs))


def _told(own: int | None, limit: int | None, inputs: Inputs) -> Iterator[str]:
    yield _sentence("text", own, limit, inputs.documents)
    if inputs.queries.texts_cut:
        yield _sentence("query", own, limit, inputs.queries)


def _sentence(what: str, own: int | None, limit: int | None, lengths: Lengths) -> str:
    if lengths.longest is None:
        return f"no {what} was embedded"
    if own is None:
        return (
            f"nothing was cut: there is no input window, and the longest {what} has {counted(lengths.longest, 'token')}"
        )
    other = "" if limit is None else ", all that the model takes" if own == limit else f"; the model takes {limit:,}"
    if not lengths.texts_cut:
        return f"nothing was cut: the longest {what} has {lengths.longest:,} of {own:,} tokens{other}"
    other = "" if limit is None else ", all that it takes" if own == limit else f", of the {limit:,} that it takes"
    were = "was" if lengths.texts_cut == 1 else "were"
    return (
        f"the model saw up to {own:,} tokens of each {what}{other}: "
        f"{lengths.texts_cut:,} of {counted(lengths.texts, what)} {were} cut, "
        f"{percent(lengths.share_seen or 0.0)} of all tokens were seen (lengths: median {lengths.p50:,}, "
        f"90% up to {lengths.p90:,}, 99% up to {lengths.p99:,}, longest {lengths.longest:,})"
    )
