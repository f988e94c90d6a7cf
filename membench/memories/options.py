"""`--memory-option name=value` to a checked settings model."""

import difflib
from collections.abc import Mapping
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
        raise UsageError(f"--memory-option {name}={options[name]}: {first['msg']}.", usual) from error
