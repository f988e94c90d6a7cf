"""What a memory answered, checked against the contract and turned into what the ruler knows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from membench.errors import MemoryCallError, UsageError
from membench.memories.bridges.messages import (
    DescribeAnswer,
    HitMessage,
    Message,
    Nothing,
    ReceiptMessage,
    SearchAnswer,
    Status,
    WriteAnswer,
)
from membench.memories.catalog import SETTINGS
from membench.memories.protocol import Description, Hit, Receipt

Call = Literal["describe", "open", "write", "search", "close"]

ANSWERS: Mapping[Call, type[Message]] = {
    "describe": DescribeAnswer,
    "open": Nothing,
    "write": WriteAnswer,
    "search": SearchAnswer,
    "close": Nothing,
}
_PLAIN: Mapping[Status, Receipt] = {status: Receipt(status) for status in ("stored", "duplicate", "refused")}

MEND = "Mend the memory; docs/own-memory.md has the contract."

Answer = TypeVar("Answer", bound=Message)


@dataclass(frozen=True, slots=True)
class Subject:
    """The memory under test, as errors name it: the SPEC that it was asked for with."""

    spec: str

    def failed(self, call: Call, fault: str, remedy: str | None = None) -> MemoryCallError:
        """The error that says which call failed and how; its usual remedy is an example of a good answer."""
        return MemoryCallError(f"The memory {self.spec}, {call}: {fault}", remedy or _expected(call))

    def checked(self, model: type[Answer], call: Call, value: object) -> Answer:
        """``value`` as ``model``. Raises MemoryCallError that names the field."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise self.failed(call, _fault(error, value)) from error

    def description(self, value: object, embeds: bool = False) -> Description:
        """The identity. Raises MemoryCallError, and UsageError where it takes the name of a memory of membench."""
        told = self.checked(DescribeAnswer, "describe", value)
        if told.name in SETTINGS:
            raise UsageError(
                f"The memory {self.spec} says that its name is {told.name}, which is one that membench ships.",
                "Give it a name of its own: measurements are compared by it.",
            )
        return Description(
            name=told.name,
            version=told.version,
            backend=told.backend or told.name,
            settings=told.settings,
            honours_as_of=told.honours_as_of,
            embeds=embeds,
            ephemeral=told.ephemeral,
            concurrency=told.concurrency,
            own=True,
        )

    def receipts(self, value: object, count: int) -> list[Receipt]:
        """One receipt for each of ``count`` units. Raises MemoryCallError."""
        told = self.checked(WriteAnswer, "write", value).receipts
        if len(told) != count:
            raise self.failed("write", f"expected {count} receipts, one a unit, found {len(told)}")
        return [_receipt(one) for one in told]

    def hits(self, value: object) -> list[Hit]:
        """The hits in their order. Raises MemoryCallError."""
        return [_hit(one) for one in self.checked(SearchAnswer, "search", value).hits]


def _receipt(told: ReceiptMessage | Status) -> Receipt:
    if isinstance(told, str):
        return _PLAIN[told]
    return Receipt(told.status, told.reason, tuple(told.displaced))


def _hit(told: HitMessage) -> Hit:
    return Hit(told.score, told.unit, told.text)


_IN_PYTHON: Mapping[Call, str] = {"write": '["stored", "duplicate"]', "search": "[(unit.id, 0.83)]"}


def _expected(call: Call) -> str:
    model = ANSWERS[call]
    extra: Any = model.model_config["json_schema_extra"]
    example = json.dumps(extra["examples"][0])
    python = f", and of a Python object {_IN_PYTHON[call]}" if call in _IN_PYTHON else ""
    return (
        f"A good answer to {call} is, for example, {example}{python}; "
        "the contract is what `membench schema memory` prints."
    )


def _fault(error: ValidationError, value: object) -> str:
    """The deepest fault: pydantic tells one for each form that a field may have, by the path and the form's name."""
    faults: dict[tuple[str | int, ...], list[str]] = {}
    shown: dict[tuple[str | int, ...], object] = {}
    for one in error.errors(include_url=False):
        path = _path(one["loc"], value, one["type"] == "missing")
        faults.setdefault(path, []).append(_said(one["type"], one["msg"]))
        shown[path] = one["input"]
    deepest = max(faults, key=len)
    place = ".".join(map(str, deepest)) or "the answer"
    found = "" if faults[deepest] == ["is missing"] else f", found {shown[deepest]!r:.80}"
    return f"{place} {' or '.join(dict.fromkeys(faults[deepest]))}{found}"


def _path(loc: Sequence[str | int], value: Any, missing: bool) -> tuple[str | int, ...]:
    path: list[str | int] = []
    for part in loc:
        inside = (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int))
        if inside:
            path.append(part)
            value = value[part]
    return (*path, loc[-1]) if missing else tuple(path)


def _said(kind: str, text: str) -> str:
    if kind == "missing":
        return "is missing"
    if kind == "model_type":
        return "should be an object"
    if kind == "extra_forbidden":
        return "is no field of the contract"
    return text.removeprefix("Value error, ").replace("Input should", "should").replace("String should", "should")
