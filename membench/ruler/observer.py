"""How a run tells what it is doing, so that the ruler itself neither prints nor reads a clock."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

Phase = Literal["ingest", "search"]


class Observer(Protocol):
    """Told of each phase as it begins and ends, and of the work done in it."""

    def phase(self, name: Phase, arm: int) -> AbstractContextManager[object]:
        """Entered for as long as arm number ``arm`` is in the phase; entered again for every instance."""
        ...

    def advance(self, name: Phase, amount: int) -> None:
        """So many turns ingested, or so many queries searched, since last told."""
        ...


class Silent:
    """An observer that keeps nothing."""

    def phase(self, name: Phase, arm: int) -> AbstractContextManager[object]:
        """Nothing."""
        del name, arm
        return nullcontext()

    def advance(self, name: Phase, amount: int) -> None:
        """Nothing."""
