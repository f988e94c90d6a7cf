"""How long the calls to a memory took: never part of a measurement."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Latency:
    """Of one kind of call: ``seconds`` of each, and how many ``items`` they carried, units or queries."""

    seconds: list[float] = field(default_factory=list)
    items: int = 0

    def add(self, seconds: float, items: int) -> None:
        """One call more. Calls from several threads may add at once."""
        self.seconds.append(seconds)
        self.items += items
