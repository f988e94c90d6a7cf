"""Whether a measurement says what its own ranks say, from which every figure in it can be had again."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from membench.metrics.aggregate import Figure, Observed, figures
from membench.reports.measurement import Figure as Recorded
from membench.reports.measurement import LevelMetrics, Measurement, Metrics, QueryRanks

# The recorded values may come from another C library, whose log2 may differ in the last bit.
_TOLERANCE = 1e-9


def observed(measurement: Measurement) -> dict[str, list[Observed]]:
    """The ranks of each level that there is, in the order of the file: what every figure is computed from."""
    found = {"session": [Observed(q.id, q.session_ranks, q.session_observed) for q in measurement.queries]}
    if measurement.metrics.turn is not None:
        found["turn"] = [
            Observed(q.id, q.turn_ranks, q.turn_observed)
            for q in measurement.queries
            if q.turn_ranks and q.turn_observed is not None
        ]
    return found


def contradictions(measurement: Measurement) -> Iterator[str]:
    """What in it cannot be as it says, nothing where all of it holds."""
    ids = [query.id for query in measurement.queries]
    if len(set(ids)) != len(ids):
        yield "a query stands in it twice"
    if 0 in measurement.arm.cut_offs:
        yield "it was scored at cut-off 0"
    for query in measurement.queries:
        for problem in _of_query(query):
            yield f"query {query.id!r}: {problem}"
    if measurement.metrics.turn is None and any(query.turn_ranks is not None for query in measurement.queries):
        yield "its queries have turn ranks, and it has no figures at turn level"
    # Of a part of the queries the figures are another's business: comparing refuses it.
    if len(ids) == measurement.counts.scored:
        yield from _unlike("", measurement.metrics, observed(measurement), measurement.arm.cut_offs)
        yield from _categories(measurement)


def _of_query(query: QueryRanks) -> Iterator[str]:
    if not query.session_ranks:
        yield "it is scored and has no gold"
    levels = [("session", query.session_ranks, query.gold_sessions, query.session_observed)]
    if query.turn_ranks is not None:
        levels.append(("turn", query.turn_ranks, query.gold_turns, query.turn_observed or 0))
    for level, ranks, gold, length in levels:
        if len(ranks) != len(gold):
            yield f"its {level} ranks are not as many as its gold"
        if any(rank is not None and rank > length for rank in ranks):
            yield f"a {level} rank is beyond the {length} that came back"


def _categories(measurement: Measurement) -> Iterator[str]:
    members: dict[int | str, set[str]] = {}
    for query in measurement.queries:
        members.setdefault(query.category, set()).add(query.id)
    numbers = [category.number for category in measurement.by_category]
    if len(set(numbers)) != len(numbers) or set(numbers) != set(members):
        yield "its categories are not those of its queries"
        return
    everything = observed(measurement)
    for category in measurement.by_category:
        ids = members[category.number]
        if category.queries != len(ids):
            yield f"category {category.number!r} has {len(ids)} queries and says {category.queries}"
        part = {level: [one for one in queries if one.query in ids] for level, queries in everything.items()}
        where = f"category {category.number!r}, "
        yield from _unlike(where, category.metrics, part, measurement.arm.cut_offs)


def _unlike(
    where: str, recorded: Metrics, ranks: Mapping[str, Sequence[Observed]], cut_offs: Sequence[int]
) -> Iterator[str]:
    for level, queries in ranks.items():
        kept: LevelMetrics | None = getattr(recorded, level)
        if kept is None:
            yield f"{where}{level}: there are ranks and no figures"
            continue
        computed = figures(queries, cut_offs)
        if not _same(kept.mrr, computed.mrr):
            yield f"{where}{level} mrr is not what its ranks give"
        for metric, row in computed.at.items():
            found: Mapping[str, Any] = getattr(kept, metric)
            if found.keys() != {str(k) for k in row}:
                yield f"{where}{level} {metric}: the cut-offs of its figures are not those that its ranks give"
                continue
            for k, figure in row.items():
                if not _same(found[str(k)], figure):
                    yield f"{where}{level} {metric}@{k} is not what its ranks give"


def _same(recorded: Recorded | None, computed: Figure | None) -> bool:
    if recorded is None or computed is None:
        return recorded is None and computed is None
    if (recorded.queries, recorded.population) != (computed.queries, computed.population):
        return False
    return math.isclose(recorded.value, computed.value, rel_tol=0, abs_tol=_TOLERANCE)
