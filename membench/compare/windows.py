"""Two measurements whose models saw different parts of the texts: what that means, and how to find out more."""

from dataclasses import dataclass

from membench.compare.control import control_of
from membench.reports.comparison import Control, SideName
from membench.reports.measurement import Embedder, Inputs, Measurement

_MOST_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class WindowNotice:
    """``told`` in a sentence without its full stop, and the commands that measure again what is not at ``window``."""

    told: str
    controls: list[Control]


@dataclass(frozen=True, slots=True)
class _Side:
    name: SideName
    measurement: Measurement
    embedder: Embedder
    inputs: Inputs
    window: int


def window_notice(baseline: Measurement, candidate: Measurement) -> WindowNotice | None:
    """About their input windows; None where these are equal, or where one of the two has none."""
    before, after = _side("baseline", baseline), _side("candidate", candidate)
    if before is None or after is None or before.window == after.window:
        return None
    if not any(
        lengths.texts_cut for side in (before, after) for lengths in (side.inputs.documents, side.inputs.queries)
    ):
        windows = f"{before.window:,} tokens in the baseline and {after.window:,} in the candidate"
        return WindowNotice(f"the input windows differ, {windows}, and neither of them cut any text", [])
    window = min(before.window, after.window)
    wider, narrower = (before, after) if before.window > window else (after, before)
    models = (before.embedder.key, before.embedder.sha256) != (after.embedder.key, after.embedder.sha256)
    queries = bool(before.inputs.queries.texts_cut or after.inputs.queries.texts_cut)
    shown = " and ".join(_seen(side, queries) for side in (before, after))
    told = f"the {'models' if models else 'two'} saw different parts of the texts: {shown}"
    if models:
        told += "; what differs between their figures cannot be attributed to the model alone"
    told += (
        f"; the control gives both {window:,} tokens: the {narrower.name} has them, "
        f"the {wider.name} has to be measured again"
    )
    return WindowNotice(told, [control_of(wider.name, wider.measurement, window)])


def percent(share: float) -> str:
    """0.8731 as `87.3%`; `100%` and `0%` only where it is exactly that."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    for decimals in range(1, _MOST_DECIMALS):
        text = f"{share:.{decimals}%}"
        if float(text[:-1]) not in (0.0, 100.0):
            return text
    return f"{share:.{_MOST_DECIMALS}%}"


def _side(name: SideName, measurement: Measurement) -> _Side | None:
    embedder, inputs = measurement.embedder, measurement.inputs
    if embedder is None or inputs is None or embedder.input_window is None:
        return None
    return _Side(name, measurement, embedder, inputs, embedder.input_window)


def _seen(side: _Side, queries: bool) -> str:
    told = [_share(side.inputs.documents.share_seen, "the written tokens")]
    if queries:
        told.append(_share(side.inputs.queries.share_seen, "the queries' tokens"))
    return f"up to {side.window:,} tokens of each in the {side.name} ({', '.join(told)})"


def _share(share: float | None, what: str) -> str:
    return "nothing was embedded" if share is None else f"{percent(share)} of {what}"
