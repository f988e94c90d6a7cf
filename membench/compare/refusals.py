"""Why two measurements cannot be compared: every difference that would take the place of the change itself."""

from collections.abc import Iterator

from membench.memories.options import setting_text
from membench.reports.comparison import Refusal
from membench.reports.measurement import Embedder, Measurement, Memory, Slice

_INGEST = ("granularity", "chunk_size", "roles", "captions", "speakers")
_RETRIEVAL = ("timeline", "as_of", "limit")


def refusals(baseline: Measurement, candidate: Measurement) -> list[Refusal]:
    """All of them, none where the two can be compared."""
    return [
        *_unfit("baseline", baseline),
        *_unfit("candidate", candidate),
        *_corpus(baseline, candidate),
        *_arm(baseline, candidate),
        *_memory(baseline, candidate),
        *_embedder(baseline, candidate),
    ]


def _unfit(side: str, one: Measurement) -> Iterator[Refusal]:
    def of_side(what: str, shown: str, reason: str) -> Refusal:
        return Refusal(
            what=what,
            baseline=shown if side == "baseline" else None,
            candidate=shown if side == "candidate" else None,
            reason=reason,
        )

    for reason in one.reasons or (["it does not say why"] if one.status != "clean" else []):
        yield of_side("status", one.status, f"the {side} is not clean: {reason}")
    if one.memory.noisy:
        reason = f"the {side} is of a noisy memory: asked the same again, it gave another list, so no delta is exact"
        yield of_side("noise", "noisy", reason)
    if len(one.queries) != one.counts.scored:
        shown = f"{len(one.queries):,} of {one.counts.scored:,} scored queries"
        yield of_side("completeness", shown, f"the {side} is of a partial run: it holds {shown}")


def _differ(what: str, baseline: object, candidate: object, reason: str) -> Iterator[Refusal]:
    if baseline != candidate:
        yield Refusal(what=what, baseline=setting_text(baseline), candidate=setting_text(candidate), reason=reason)


def _corpus(baseline: Measurement, candidate: Measurement) -> Iterator[Refusal]:
    one, other = baseline.corpus, candidate.corpus
    reason = "another corpus, another part of it, or another reading of its text or gold"
    yield from _differ("corpus fingerprint", one.fingerprint, other.fingerprint, reason)
    yield from _differ("gold reading", one.gold, other.gold, "the evidence is read differently")
    yield from _differ("slice", _part(one.slice), _part(other.slice), "not the same part of the corpus is measured")
    if one.fingerprint == other.fingerprint:
        wanted = [{q.id: (q.gold_sessions, q.gold_turns) for q in m.queries} for m in (baseline, candidate)]
        if wanted[0] != wanted[1]:
            counts = [f"{len(m.queries):,} queries" for m in (baseline, candidate)]
            reason = "the scored queries or their gold differ, though the corpus is the same"
            yield Refusal(what="queries", baseline=counts[0], candidate=counts[1], reason=reason)


def _part(part: Slice) -> str:
    bounds = {"instances": part.instances, "queries": part.queries}
    return ", ".join(f"{what} {'all' if bound is None else bound}" for what, bound in bounds.items())


def _arm(baseline: Measurement, candidate: Measurement) -> Iterator[Refusal]:
    one, other = baseline.arm, candidate.arm
    yield from _differ("pool", one.pool, other.pool, "a query searches other sessions")
    for name in _INGEST:
        yield from _differ(
            f"ingest: {name}", getattr(one, name), getattr(other, name), "what is written to the memory differs"
        )
    for name in _RETRIEVAL:
        yield from _differ(
            f"retrieval: {name}", getattr(one, name), getattr(other, name), "what a search is asked differs"
        )


def _memory(baseline: Measurement, candidate: Measurement) -> Iterator[Refusal]:
    one, other = baseline.memory, candidate.memory
    reason = "another memory, or one that calls itself another version"
    yield from _differ("memory identity", f"{one.name} {one.version}", f"{other.name} {other.version}", reason)
    yield from _differ("memory backend", one.backend, other.backend, "another way of ranking in the same memory")
    for name in sorted(one.options.keys() | other.options.keys()):
        yield from _differ(
            f"memory setting: {name}", _setting(one, name), _setting(other, name), "the memory is set differently"
        )


def _setting(memory: Memory, name: str) -> str:
    return setting_text(memory.options[name]) if name in memory.options else "not set"


def _embedder(baseline: Measurement, candidate: Measurement) -> Iterator[Refusal]:
    one, other = baseline.embedder, candidate.embedder
    if one is None or other is None:
        yield from _differ("embedder", _key(one), _key(other), "one of them uses vectors and the other none")
        return
    if one.probe == other.probe:
        if _cut(baseline) or _cut(candidate):
            # No probe text is as long as the largest windows.
            reason = "other parts of the texts that were cut are seen"
            yield from _differ("input window", one.input_window, other.input_window, reason)
        return
    names = ("key", "sha256", "pooling", "document_prompt", "query_prompt", "input_window", "build", "instruction_set")
    unlike = [name for name in names if getattr(one, name) != getattr(other, name)]
    cause = f"{', '.join(unlike)} differ" if unlike else "all that is recorded of it is equal, and its vectors are not"
    yield Refusal(
        what="embedder",
        baseline=f"{one.key}, probe {one.probe[:16]}",
        candidate=f"{other.key}, probe {other.probe[:16]}",
        reason=f"the probe texts have other vectors, so that the two rank in different spaces: {cause}",
    )


def _cut(measurement: Measurement) -> bool:
    found = measurement.inputs
    return found is not None and bool(found.documents.texts_cut or found.queries.texts_cut)


def _key(embedder: Embedder | None) -> str | None:
    return None if embedder is None else embedder.key
