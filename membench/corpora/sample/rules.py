"""What must hold of every query that the generator writes."""

import re
from collections.abc import Mapping
from typing import Any

from membench.errors import CorpusError

COPIED_WORDS = 6
SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "at",
        "for",
        "in",
        "it",
        "my",
        "of",
        "on",
        "the",
        "to",
        "we",
        "with",
        "which",
        "that",
        "i",
        "by",
        "from",
        "is",
        "are",
    ]
)


def words(text: str) -> list[str]:
    """The words and figures of ``text`` in lower case; a thousands separator joins, an apostrophe divides."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=\d)[,.](?=\d)", "", text.lower()))


def check_query(query: Mapping[str, Any], turns: Mapping[str, str]) -> None:
    """Raise CorpusError where ``query`` breaks a rule. ``turns`` are its instance's texts by id."""
    gold = [turns[turn] for turn in query["gold_turns"]]
    faults = [*_answer_faults(query, gold), *_shape_faults(query)]
    if any(copies(query["text"], text) for text in gold):
        faults.append(f"the question copies {COPIED_WORDS} words of its evidence")
    if faults:
        raise CorpusError(f"query {query['id']} ({query['text']!r}): {'; '.join(faults)}; evidence: {gold}")


def copies(question: str, text: str) -> bool:
    """Whether six consecutive words of ``question`` stand in ``text``."""
    asked, said = words(question), f" {' '.join(words(text))} "
    starts = range(len(asked) - COPIED_WORDS + 1)
    return any(f" {' '.join(asked[start : start + COPIED_WORDS])} " in said for start in starts)


def _answer_faults(query: Mapping[str, Any], gold: list[str]) -> list[str]:
    if query["unanswerable"]:
        return [] if query["answer"] is None and not gold else ["unanswerable, yet it has an answer or evidence"]
    if not query["answer"]:
        return ["no answer"]
    key = [word for word in words(query["answer"]) if word not in SMALL_WORDS]
    held = [set(words(text)) for text in gold]
    absent = [word for word in key if not any(word in said for said in held)]
    faults = [f"{word!r} stands in no gold turn" for word in absent]
    if any(said.isdisjoint(key) for said in held):
        faults.append("a gold turn holds no word of the answer")
    return faults


def _shape_faults(query: Mapping[str, Any]) -> list[str]:
    sessions = len(query["gold_sessions"])
    low, high = {"multi-hop": (2, 4), "temporal": (1, 2), "unanswerable": (0, 0)}.get(query["category"]["name"], (1, 1))
    return [] if low <= sessions <= high else [f"evidence in {sessions} sessions, expected {low} to {high}"]
