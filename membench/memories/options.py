"""The options of a memory: from `name=value` to a checked settings model."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from membench.errors import UsageError


def _none(value: object) -> object:
    return None if value == "none" else value


def _switch(value: object) -> object:
    return {"on": True, "off": False}.get(value, value) if isinstance(value, str) else value


OrNone = BeforeValidator(_none)
"""Reads `none` as None."""

Switch = Annotated[bool, BeforeValidator(_switch)]
"""Reads `on` and `off`."""


def setting_text(value: object) -> str:
    """A setting as the command takes it: none, on, off, or the value."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def named_options(pairs: Iterable[str]) -> dict[str, str]:
    """`name=value` pairs by name. Raises UsageError for one that is none, and for a name that is given twice."""
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"The memory option {pair!r}: expected name=value, such as decay_rate=0.")
        if name in options:
            raise UsageError(f"The memory option {name} is given twice.")
        options[name] = value
    return options


class Settings(BaseModel):
    """A memory's named options with their defaults; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


SettingsModel = TypeVar("SettingsModel", bound=Settings)


def parse_settings(model: type[SettingsModel], options: Mapping[str, str], memory: str) -> SettingsModel:
    """``options`` as ``model``. Raises UsageError that names the option, what was expected, and the nearest name."""
    for name in options:
        if name not in model.model_fields:
            known = ", ".join(sorted(model.model_fields)) or "none"
            near = difflib.get_close_matches(name, model.model_fields, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"The memory {memory} has no option {name!r}.{hint}", f"Its options: {known}.")
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        first: Any = error.errors()[0]
        name = str(first["loc"][0])
        usual = f"The default is {name}={setting_text(model.model_fields[name].default)}."
        raise UsageError(f"The memory option {name}={options[name]}: {first['msg']}.", usual) from error
