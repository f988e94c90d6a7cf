"""From a raw JSON value to a checked pydantic model, or an error that names the instance and the field."""

import reprlib
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from membench.errors import CorpusError


class Raw(BaseModel):
    """What a published corpus holds: fields that are not read here are allowed, wrong types are not."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


Name = Annotated[str, Field(min_length=1)]
"""What is told apart by it: an id or a label."""

RawModel = TypeVar("RawModel", bound=Raw)


def checked(model: type[RawModel], value: Any, path: Path, position: int, name_field: str) -> RawModel:
    """``value`` as ``model``; ``position`` is 0-based, ``name_field`` the member that names the instance."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        name = value.get(name_field) if isinstance(value, dict) else None
        raise malformed(path, position, name, *_first(error)) from error


def malformed(path: Path, position: int, name: object, field: str, problem: str) -> CorpusError:
    """A CorpusError for one field of one instance."""
    shown = f"{position + 1} ({name})" if isinstance(name, str) else str(position + 1)
    return CorpusError(
        f"{path}: instance {shown}, field {field}: {problem}",
        "Mend the file, or give its own --format; a corpus of the catalog can be fetched again.",
    )


def _first(error: ValidationError) -> tuple[str, str]:
    first = error.errors()[0]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return field or "(whole)", f"{first['msg']}, found {_brief(first['input'])}{more}"


def _brief(value: object) -> str:
    # A plain repr fails on deep nesting, and is as long as the instance.
    shown = reprlib.repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
