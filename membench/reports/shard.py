"""The shard file: the parts of one arm that one machine measured, to be merged with those of the others."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import Field, ValidationError

from membench.errors import ReportError, UsageError
from membench.files.failures import storage_errors
from membench.reports.canonical import canonical_json
from membench.reports.head import Head
from membench.reports.model import Report
from membench.reports.provenance import ShardRun
from membench.ruler.part import Part

SCHEMA: Final = "membench.shard/1"

Number = Annotated[int, Field(ge=1)]


class ShardBody(Report):
    """What is merged into the measurement."""

    head: Head
    parts: list[Part]


class Shard(Report):
    """``number`` of ``of``. ``run`` is how it was measured; ``sha256`` is of the canonical form of ``body``."""

    schema_: Literal["membench.shard/1"] = Field(alias="schema")
    number: Number
    of: Number
    run: ShardRun
    sha256: str
    body: ShardBody


def shard_of(number: int, of: int, run: ShardRun, head: Head, parts: list[Part]) -> Shard:
    """A shard, with the digest by which it is known to be as it was measured."""
    body = ShardBody(head=head, parts=parts)
    return Shard(schema=SCHEMA, number=number, of=of, run=run, sha256=_digest(body), body=body)


def _digest(body: ShardBody) -> str:
    return hashlib.sha256(canonical_json(body)).hexdigest()


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A shard and where it came from."""

    path: Path
    shard: Shard

    @property
    def named(self) -> str:
        """How a message calls it."""
        return f"{self.path} ({self.shard.number}/{self.shard.of})"


def shard_stem(head: Head, number: int, of: int) -> str:
    """What the file of a shard is called, before its ending."""
    return f"{head.corpus.key}.{head.arm.name}.shard-{number}-of-{of}"


def read_shard(path: Path) -> ShardFile:
    """The shard at ``path``. Raises StorageError where it cannot be read, ReportError where it is none."""
    with storage_errors("read", path):
        data = path.read_bytes()
    remedy = "Measure the shard again with membench retrieval --shard."
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ReportError(f"{path} is not JSON: {error}", remedy) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        shown = ascii(schema)[:80] if isinstance(schema, str) else "not given"
        raise ReportError(f"{path} is not a shard: its schema is {shown}, expected {SCHEMA}", remedy)
    try:
        shard = Shard.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][:6]) or "the whole"
        raise ReportError(f"{path} is not a {SCHEMA}: {where}: {first['msg']}", remedy) from error
    if shard.sha256 != (found := _digest(shard.body)):
        raise ReportError(
            f"{path} is not as it was measured: expected SHA-256 {shard.sha256} of its body, found {found}", remedy
        )
    return ShardFile(path, shard)


def by_arm(files: Sequence[ShardFile]) -> list[list[ShardFile]]:
    """The shards of each arm, which are all that there are, each once.

    Raises UsageError that names what is missing, stands twice, or is of another arm.
    """
    groups: dict[str, list[ShardFile]] = {}
    for file in files:
        groups.setdefault(f"{file.shard.body.head.corpus.key}.{file.shard.body.head.arm.name}", []).append(file)
    problems = [problem for stem, group in groups.items() for problem in _problems(stem, group)]
    if problems:
        if len(groups) > 1:
            problems.append(f"they are of {len(groups)} arms: {', '.join(groups)}")
        raise UsageError(
            f"these shards cannot be merged: {'; '.join(problems)}",
            "Give every shard of an arm once, all measured with the same command save its --shard.",
        )
    return [sorted(group, key=lambda file: file.shard.number) for group in groups.values()]


def _problems(stem: str, group: Sequence[ShardFile]) -> Iterator[str]:
    first = group[0]
    for other in group[1:]:
        differing = list(_differences("", first.shard.body.head.model_dump(), other.shard.body.head.model_dump()))
        if differing:
            yield f"{other.named} and {first.named} were not measured alike: {'; '.join(differing[:4])}"
            return
        if other.shard.of != first.shard.of:
            yield f"{other.named} and {first.named} are of unlike numbers of shards"
            return
    numbers = Counter(file.shard.number for file in group)
    for number in sorted(number for number, count in numbers.items() if count > 1):
        twice = ", ".join(str(file.path) for file in group if file.shard.number == number)
        yield f"{stem}: shard {number}/{first.shard.of} is given {numbers[number]} times: {twice}"
    missing = [f"{number}/{first.shard.of}" for number in range(1, first.shard.of + 1) if number not in numbers]
    if missing:
        yield f"{stem}: {'shard' if len(missing) == 1 else 'shards'} {', '.join(missing)} missing"
    elif max(numbers.values()) == 1:
        yield from _places(stem, group)


def _places(stem: str, group: Sequence[ShardFile]) -> Iterator[str]:
    """Every shard is there once: are the instances?"""
    holders: dict[int, list[str]] = {}
    for file in group:
        for part in file.shard.body.parts:
            holders.setdefault(part.place, []).append(f"{part.instance!r} in {file.path}")
    twice = [found for found in holders.values() if len(found) > 1]
    if twice:
        yield f"{stem}: {len(twice)} instances stand in more than one shard, such as {' and '.join(twice[0])}"
    wanted = group[0].shard.body.head.corpus.instances
    missing = [place for place in range(1, wanted + 1) if place not in holders]
    if missing or len(holders) != wanted:
        places = ", ".join(map(str, missing[:5]))
        yield f"{stem}: the shards hold {len(holders)} of {wanted} instances, not those at {places}"


def _differences(name: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _differences(f"{name}.{key}".lstrip("."), one.get(key), other.get(key))
    elif one != other:
        yield f"{name} {other} against {one}"
