"""The size and the digest that a catalog pins for a file, and how the arrival of its bytes is told."""

from collections.abc import Callable

from membench.errors import FetchError

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there, and the bytes that there will be where that is known."""


def silent(done: int, total: int | None) -> None:
    """Tell nobody about progress."""


def require_size(origin: object, found: int, expected: int | None, remedy: str) -> None:
    """Raise FetchError unless ``origin`` gave ``expected`` bytes; None expects nothing.

    A reader stops at the first byte too many, so that ``found`` is then only a lower bound.
    """
    if expected is not None and found != expected:
        count = "more than that" if found > expected else f"{found}"
        raise FetchError(f"{origin}: expected {expected} bytes, found {count}", remedy)


def require_digest(origin: object, found: str, expected: str, remedy: str) -> None:
    """Raise FetchError unless the SHA-256 of what ``origin`` gave is ``expected``."""
    if found != expected:
        raise FetchError(f"{origin}: expected SHA-256 {expected}, found {found}", remedy)
