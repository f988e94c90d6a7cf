"""The comparison file: what a candidate measurement says against a baseline, or why nothing can be said.

`membench.comparison/1` is the first version of one arm's, `membench.comparisons/1` of those of a whole run.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from membench.reports.measurement import Count, CutOff, Inputs, Name, Sha256
from membench.reports.model import Report

SCHEMA: Final = "membench.comparison/1"
RUN_SCHEMA: Final = "membench.comparisons/1"

Verdict = Literal["improved", "regressed", "unchanged", "mixed", "not comparable"]
Level = Literal["session", "turn"]
SideName = Literal["baseline", "candidate"]
Rank = Annotated[int, Field(ge=1)]


class Seen(Report):
    """The windows of an embedder in tokens, null for none, and how much of the texts it saw through them."""

    input_window: Count | None
    model_window: Count | None
    inputs: Inputs


class Side(Report):
    """One of the two measurements. ``sha256`` is of its canonical bytes; ``seen`` is null without an embedder."""

    stem: Name
    sha256: Sha256
    seen: Seen | None


class Refusal(Report):
    """One reason why the two cannot be compared: what differs, and how it stands on each side, null where nowhere."""

    what: Name
    baseline: str | None
    candidate: str | None
    reason: Name


class Headline(Report):
    """What the verdict is read from, at every level that there is."""

    metric: Literal["recall_all"]
    cut_off: Annotated[int, Field(ge=1)]


class Delta(Report):
    """Two means over the same ``queries`` queries, and candidate less baseline."""

    baseline: float
    candidate: float
    delta: float
    queries: Annotated[int, Field(ge=1)]
    population: Name


class LevelDeltas(Report):
    """The figures at one level, those whose populations are equal."""

    recall_all: dict[CutOff, Delta]
    recall_any: dict[CutOff, Delta]
    recall_micro: dict[CutOff, Delta]
    ndcg: dict[CutOff, Delta]
    mrr: Delta | None


class MetricDeltas(Report):
    """``turn`` is null where the granularity has no turn level."""

    session: LevelDeltas
    turn: LevelDeltas | None


class SetAside(Report):
    """A cut-off whose two figures are over different queries. ``paired`` is over the ``both`` that it shares.

    It is empty where no query counts on both sides.
    """

    level: Level
    cut_off: Count
    reason: Name
    baseline_queries: Count
    candidate_queries: Count
    both: Count
    paired: dict[Name, Delta]


class CategoryDeltas(Report):
    """The figures of one kind of query."""

    name: Name
    number: int | str
    queries: Count
    metrics: MetricDeltas
    set_aside: list[SetAside]


class Flip(Report):
    """A query that the headline metric counts on one side only.

    Ranks are 1-based places of its gold, null where it did not come back; ``question`` is null where the corpus is not
    at hand.
    """

    id: Name
    category: int | str
    question: str | None
    gold: list[Name]
    baseline_ranks: list[Rank | None]
    candidate_ranks: list[Rank | None]


class Flips(Report):
    """The queries gained and lost at one level at the headline cut-off, among the ``queries`` that count on both."""

    level: Level
    cut_off: Count
    queries: Count
    gained: list[Flip]
    lost: list[Flip]


class Control(Report):
    """How to measure one side again with the smaller of two input windows.

    ``command`` is quoted for a POSIX shell. What a measurement does not record stands in it in angle brackets;
    ``missing`` says what that is.
    """

    side: SideName
    input_window: Count
    command: Name
    missing: list[Name]


class Comparison(Report):
    """Baseline against candidate, one arm.

    ``rule`` says in words why the verdict is what it is. ``identical``: every query's ranks are equal, and all else but
    version strings. A side is null where there is no such file, or one of another schema. With ``refusals`` there is no
    figure: ``metrics`` is null. ``controls`` are the runs that ``notices`` ask for.
    """

    schema_: Literal["membench.comparison/1"] = Field(alias="schema")
    verdict: Verdict
    rule: Name
    identical: bool
    headline: Headline
    baseline: Side | None
    candidate: Side | None
    refusals: list[Refusal]
    notices: list[Name]
    controls: list[Control]
    metrics: MetricDeltas | None
    set_aside: list[SetAside]
    by_category: list[CategoryDeltas]
    flips: list[Flips]


class Comparisons(Report):
    """All arms of a run, in their order, and the verdict over those that could be compared."""

    schema_: Literal["membench.comparisons/1"] = Field(alias="schema")
    verdict: Verdict
    rule: Name
    arms: list[Comparison]
