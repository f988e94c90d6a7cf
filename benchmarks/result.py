"""What one benchmark found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """``bound`` says what was asked for, None where nothing was; ``kept`` whether it holds."""

    name: str
    shown: str
    bound: str | None = None
    kept: bool = True
