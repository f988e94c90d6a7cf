"""What the files of a report are made of: strict, frozen, and refused where a field is unknown or missing."""

from pydantic import BaseModel, ConfigDict


class Report(BaseModel):
    """A part of a report. Fields are written in the order in which they are declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True)
