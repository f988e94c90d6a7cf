"""A corpus ready to be measured: found, verified, surveyed once, and read as often as needed, an instance at a time."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from membench.corpora import locomo, longmemeval, native
from membench.corpora.catalog import CORPORA, CorpusPin, Format, find_corpus
from membench.corpora.reading import json_values
from membench.corpora.rendering import TextOptions
from membench.corpora.selection import WHOLE, Roles, Slice, head, of_roles
from membench.corpora.store import verified_corpus
from membench.corpora.survey import Survey, survey
from membench.corpora.types import Instance
from membench.corpora.validation import malformed
from membench.errors import CorpusError, UsageError

# Reports are named after the corpus, and a file name has room for 255 bytes.
_LONGEST_KEY = 40

FORMATS: tuple[Format, ...] = ("locomo", "longmemeval", "membench")

# LoCoMo's turns are what two named people said and showed each other; a chat's roles are not part of what was said.
_TEXT_DEFAULTS = {
    "locomo": TextOptions(captions=True, speakers=True),
    "longmemeval": TextOptions(captions=False, speakers=False),
    "membench": TextOptions(captions=False, speakers=False),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a corpus is read: everything here is recorded. ``captions`` and ``speakers`` None take the format's own."""

    gold: locomo.Gold = "verbatim"
    roles: Roles = "all"
    captions: bool | None = None
    speakers: bool | None = None
    part: Slice = WHOLE


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was opened. ``survey`` and ``instances`` are of the part and the roles that ``reading`` asks for."""

    key: str
    path: Path
    format: Format
    reading: Reading
    text: TextOptions
    evidence_only: bool
    survey: Survey

    def instances(self) -> Iterator[Instance]:
        """The instances in order, read from the file again; never more than one is held."""
        return _instances(self.path, self.format, self.reading)


def open_corpus(name: str, root: Path, reading: Reading, file_format: Format | None = None) -> Corpus:
    """The corpus of a catalog key, or with ``file_format`` the user's own file at ``name``.

    The file is read through once, so that what is wrong with it shows before anything is measured. Raises UsageError
    for an unknown key, CorpusError for a file that is absent, altered or malformed, or has nothing to score in the part
    asked for.
    """
    if file_format is None:
        pin = _pin(name)
        key, path, form = pin.key, verified_corpus(pin, root), pin.format
    else:
        key, path, form = _file_key(Path(name)), Path(name), file_format
    if reading.gold == "repaired" and form != "locomo":
        raise UsageError(f"the gold reading 'repaired' is of LoCoMo's evidence references, and {name} is not LoCoMo.")
    if reading.roles != "all" and form == "locomo":
        raise UsageError(f"--roles {reading.roles}: {name} is LoCoMo, in which two people talk and both are users.")
    text = text_options(form, reading)
    found = survey(_instances(path, form, reading), text)
    if not found.queries:
        remedy = "Give a file with queries." if reading.part == WHOLE else "Ask for more --instances or --queries."
        raise CorpusError(f"{path}: no query in it{_of_part(reading.part)}", remedy)
    if not found.scorable:
        raise CorpusError(
            f"{path}: none of its {found.queries} queries can be scored{_of_part(reading.part)}: "
            f"{found.unanswerable} are unanswerable and {found.without_gold} have no gold in their haystack",
            "Ask for more --instances or --queries, or another --gold reading.",
        )
    return Corpus(
        key=key,
        path=path,
        format=form,
        reading=reading,
        text=text,
        evidence_only=not found.has_distractors,
        survey=found,
    )


def text_options(form: Format, reading: Reading) -> TextOptions:
    """What ``reading`` asks for, the format's own habits where it asks for nothing."""
    usual = _TEXT_DEFAULTS[form]
    return TextOptions(
        captions=usual.captions if reading.captions is None else reading.captions,
        speakers=usual.speakers if reading.speakers is None else reading.speakers,
    )


def usual_text(form: Format) -> TextOptions:
    """The format's own habits."""
    return _TEXT_DEFAULTS[form]


def _file_key(path: Path) -> str:
    """Names a user's own corpus in reports: the file's name without the endings that tell its format."""
    stem = re.sub(r"(\.(json|jsonl|ndjson|gz))+$", "", path.name, flags=re.IGNORECASE)
    key = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_-")[:_LONGEST_KEY] or "corpus"
    return f"own_{key}" if key in CORPORA else key


def _pin(name: str) -> CorpusPin:
    if name not in CORPORA and Path(name).exists():
        raise UsageError(f"{name} is a file: say how it is written.", f"Add --format {' or '.join(FORMATS)}.")
    return find_corpus(name)


def _of_part(part: Slice) -> str:
    bounds = {"instances": part.instances, "queries": part.queries}
    shown = " and ".join(f"{count} {what}" for what, count in bounds.items() if count is not None)
    return f" in its first {shown}" if shown else ""


def _instances(path: Path, form: Format, reading: Reading) -> Iterator[Instance]:
    return (of_roles(instance, reading.roles) for instance in head(_read(path, form, reading.gold), reading.part))


def _read(path: Path, form: Format, gold: locomo.Gold) -> Iterator[Instance]:
    if form == "membench":
        native.check_schema(path)
    values = enumerate(json_values(path, "instances" if form == "membench" else ""))
    return _unique(_parsed(values, path, form, gold), path)


def _unique(instances: Iterator[Instance], path: Path) -> Iterator[Instance]:
    """``instances``, no two under one id, nor two of their queries: a measurement pairs queries by id."""
    instance_ids: set[str] = set()
    query_ids: set[str] = set()
    for place, instance in enumerate(instances):
        queries = [query.id for query in instance.queries]
        for field, seen, ids in (("id", instance_ids, [instance.id]), ("queries", query_ids, queries)):
            if twice := seen.intersection(ids):
                problem = f"expected unique ids, {min(twice)!r} stands in an earlier instance too"
                raise malformed(path, place, instance.id, field, problem)
            seen.update(ids)
        yield instance


def _parsed(values: Iterable[tuple[int, Any]], path: Path, form: Format, gold: locomo.Gold) -> Iterator[Instance]:
    if form == "locomo":
        return (locomo.read_instance(value, path, place, gold) for place, value in values)
    if form == "longmemeval":
        return (longmemeval.read_instance(value, path, place) for place, value in values)
    return (native.read_instance(value, path, place) for place, value in values)
