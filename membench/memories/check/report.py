"""What a check says, as data. `membench.memory-check/1` is the first version."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from membench.memories.protocol import Setting

SCHEMA: Final = "membench.memory-check/1"

Name = Annotated[str, Field(min_length=1)]


class Part(BaseModel):
    """A part of the report: strict, frozen, refused where a field is unknown or missing."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True)


class Example(Part):
    """The smallest call that shows it, and what came back."""

    call: Name
    answer: Name


class Result(Part):
    """One rule. ``holds`` is null where it does not apply or could not be judged; ``reason`` says why, always."""

    name: Name
    title: Name
    holds: bool | None
    reason: Name
    example: Example | None


class Identity(Part):
    """What the memory says of itself."""

    name: str
    version: str
    backend: str
    settings: dict[str, Setting]
    ephemeral: bool
    honours_as_of: bool
    concurrency: int


class CheckReport(Part):
    """All rules in their order. ``holds``: none is broken. ``memory`` is null where it does not describe itself."""

    schema_: Literal["membench.memory-check/1"] = Field(alias="schema")
    spec: Name
    memory: Identity | None
    holds: bool
    results: list[Result]

    @property
    def broken(self) -> list[Result]:
        """The rules that do not hold."""
        return [result for result in self.results if result.holds is False]
