"""The measurement file: what a run yields and nothing that varies from night to night.

`membench.measurement/1` is the first version. A change of meaning raises the number; a file of another number is
refused.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from membench.memories.protocol import Setting
from membench.reports.model import Report

SCHEMA: Final = "membench.measurement/1"

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
CutOff = Annotated[str, Field(pattern=r"^[1-9][0-9]*$")]


class Slice(Report):
    """The head slice; null for no bound."""

    instances: Count | None
    queries: Count | None


class Quirks(Report):
    """What is odd in the corpus and was read all the same, counted."""

    instances_without_sessions: Count
    blank_turns: Count
    undated_sessions: Count
    unsorted_instances: Count
    repeated_session_ids: Count
    dangling_references: Count
    evidence_after_question: Count
    gold_sessions_without_gold_turn: Count


class Corpus(Report):
    """What was measured on. ``fingerprint`` covers everything in it that can move a score."""

    key: Name
    fingerprint: Sha256
    gold: Literal["verbatim", "repaired"]
    instances: Count
    sessions: Count
    turns: Count
    queries: Count
    slice: Slice
    quirks: Quirks


class ArmSettings(Report):
    """How the corpus met the memory. ``chunk_size`` is null unless chunks are written, ``as_of`` unless literal."""

    name: Name
    timeline: Literal["now", "anchored", "literal", "asked"]
    as_of: str | None
    granularity: Literal["turn", "chunk", "session"]
    chunk_size: Count | None
    pool: Literal["own", "shared"]
    roles: Literal["all", "user"]
    captions: bool
    speakers: bool
    limit: Count
    cut_offs: list[Count]


class MemoryIdentity(Report):
    """The system under test, as it described itself."""

    name: Name
    version: Name
    backend: Name
    options: dict[str, Setting]


class Memory(MemoryIdentity):
    """``noisy``: asked the same again, it gave another list."""

    noisy: bool


class Embedder(Report):
    """The vector space, as read from the live embedder. ``probe`` decides whether two are the same."""

    kind: Literal["llama.cpp", "toy"]
    key: Name
    sha256: Sha256 | None
    dimension: Count
    pooling: Name
    normalisation: Name
    document_prompt: str
    query_prompt: str
    input_window: Count | None
    model_window: Count | None
    build: Name
    instruction_set: str
    probe: Sha256


class Lengths(Report):
    """The texts of one kind that were embedded, each distinct one of a pool once, in the embedder's own tokens, prompt
    and special tokens included: how long they were, and what the input window took off. The quantiles are lengths that
    occur (nearest rank), null where there is no text.
    """

    texts: Count
    tokens: Count
    texts_cut: Count
    tokens_cut: Count
    share_seen: float | None
    p50: Count | None
    p90: Count | None
    p99: Count | None
    longest: Count | None


class Inputs(Report):
    """What the embedder was given, and how much of it it saw."""

    documents: Lengths
    queries: Lengths


class Counts(Report):
    """Where the corpus's queries went: each is in exactly one of these."""

    scored: Count
    unanswerable: Count
    without_gold: Count


class GoldLost(Report):
    """Gold that stands nowhere in the store; ``turn`` is null for a session without gold turns."""

    instance: Name
    session: Name
    turn: Name | None
    reason: Name


class SharedPool(Report):
    """What a shared pool was made of, each its own number.

    ``session_references`` stand in the instances, under ``session_ids`` distinct ids, with ``session_texts`` distinct
    texts, each of which is written once. The memory accepted ``units_accepted`` of their units, collapsed
    ``writes_collapsed`` into what stood there, refused ``units_refused``, and holds ``rows`` at the end.
    ``redated_references`` have another date than the one that is written; ``sessions_never_stored`` stand nowhere.
    """

    session_references: Count
    session_ids: Count
    session_texts: Count
    units_accepted: Count
    writes_collapsed: Count
    units_refused: Count
    rows: Count
    redated_references: Count
    sessions_never_stored: Count


class Accounting(Report):
    """What became of everything written and everything that came back.

    ``implied_decay``: what the memory's decay rate leaves of a score across ``widest_span_days``; null for a memory
    without one. ``foreign_hits`` are those of ``unattributed_hits`` that name a unit of another pool.
    ``queries_missing_gold`` want some of ``gold_lost``; ``queries_without_gold_turn`` are scored at session level
    only. ``empty_searches`` gave no hit, and so count at no cut-off. ``shared`` is null for own pools.
    """

    attempted: Count
    written: Count
    displaced: Count
    duplicates: dict[str, Count]
    refused: dict[str, Count]
    gold_lost: list[GoldLost]
    queries_missing_gold: Count
    searches: Count
    empty_searches: Count
    hits: Count
    hits_over_limit: Count
    unattributed_hits: Count
    foreign_hits: Count
    repeated_hits: Count
    undated_units: Count
    widest_span_days: Count
    implied_decay: float | None
    queries_without_gold_turn: Count
    shared: SharedPool | None


class Figure(Report):
    """A mean over ``queries`` queries, whose ids ``population`` fingerprints."""

    value: float
    queries: Annotated[int, Field(ge=1)]
    population: Name


class LevelMetrics(Report):
    """The figures at one level. Cut-offs that no query can be observed at are left out, with their reason elsewhere."""

    recall_all: dict[CutOff, Figure]
    recall_any: dict[CutOff, Figure]
    recall_micro: dict[CutOff, Figure]
    ndcg: dict[CutOff, Figure]
    mrr: Figure | None


class Metrics(Report):
    """``turn`` is null where the granularity has no turn level."""

    session: LevelMetrics
    turn: LevelMetrics | None


class Omitted(Report):
    """A cut-off that is not reported, and why."""

    level: Literal["session", "turn"]
    cut_off: Count
    reason: Name


class CategoryMetrics(Report):
    """The figures of one kind of query: its name here and the corpus's own number or label."""

    name: Name
    number: int | str
    queries: Count
    metrics: Metrics


class QueryRanks(Report):
    """One scored query, from which every metric at any cut-off can be had again.

    Ranks are 1-based places of its gold in the distinct ranked list, null where it did not come back; ``observed`` is
    how long that list was.
    """

    id: Name
    category: int | str
    gold_sessions: list[Name]
    session_ranks: list[Annotated[int, Field(ge=1)] | None]
    session_observed: Count
    gold_turns: list[Name]
    turn_ranks: list[Annotated[int, Field(ge=1)] | None] | None
    turn_observed: Count | None


class Measurement(Report):
    """One arm, measured. ``inputs`` is null where the memory uses no embedder of the run."""

    schema_: Literal["membench.measurement/1"] = Field(alias="schema")
    status: Literal["clean", "unclean"]
    reasons: list[Name]
    corpus: Corpus
    arm: ArmSettings
    memory: Memory
    embedder: Embedder | None
    inputs: Inputs | None
    counts: Counts
    accounting: Accounting
    metrics: Metrics
    omitted: list[Omitted]
    by_category: list[CategoryMetrics]
    queries: list[QueryRanks]
