"""An observer that adds up seconds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from membench.ruler.observer import Observer, Phase


@dataclass(slots=True)
class Clocked:
    """Passes on what it is told, and adds up the seconds of each phase of each arm."""

    inner: Observer
    seconds: dict[tuple[Phase, int], float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: Phase, arm: int) -> Iterator[None]:
        """Timed."""
        begun = perf_counter()
        with self.inner.phase(name, arm):
            yield
        self.seconds[name, arm] = self.seconds.get((name, arm), 0.0) + perf_counter() - begun

    def advance(self, name: Phase, amount: int) -> None:
        """Passed on."""
        self.inner.advance(name, amount)

    def add(self, seconds: Mapping[tuple[Phase, int], float]) -> None:
        """What another has timed."""
        for key, more in seconds.items():
            self.seconds[key] = self.seconds.get(key, 0.0) + more
