"""The rule `describe`."""

from contextlib import suppress

from membench.errors import UsageError
from membench.memories.check.bench import Bench, Broken, NotJudged
from membench.memories.check.texts import FEW
from membench.memories.protocol import Description

_CALL = "describe()"


def describe(bench: Bench) -> str:
    """It answers, and the same again and after a pool was used. Keeps the first answer for the other rules.

    Raises UsageError, before anything is written, for a memory that may keep it and was not allowed.
    """
    first = _described(bench)
    if not first.ephemeral and not bench.allow_persistent:
        raise UsageError(
            f"The memory {first.name} does not say that it is ephemeral: what is written may stay in it, and what it "
            "holds already may come back.",
            "Let describe() say ephemeral where it is so, or allow it with --allow-persistent.",
        )
    bench.description = first
    _compare(first, _described(bench), "asked again")
    # That a pool cannot be used is what the other rules say.
    with suppress(Broken, NotJudged), bench.pool() as pool:
        pool.write(FEW[:2])
        pool.search(FEW[0])
    _compare(first, _described(bench), "once a pool was used")
    return f"It is {first.name} {first.version}, three times."


def _described(bench: Bench) -> Description:
    found = bench.call(_CALL, bench.memory.describe)
    if not isinstance(found, Description) or not found.name or found.concurrency < 1:
        problem = "expected a description with a name and a concurrency of at least 1"
        raise Broken(f"{_CALL}: {problem}.", _CALL, f"{found!r:.200}")
    return found


def _compare(first: Description, again: Description, when: str) -> None:
    if again != first:
        fields = [name for name in Description.__dataclass_fields__ if getattr(first, name) != getattr(again, name)]
        told = "; ".join(f"{name} {getattr(first, name)!r}, then {getattr(again, name)!r}" for name in fields)
        raise Broken(f"It describes itself otherwise {when}: its {', '.join(fields)} changed.", f"{_CALL}, twice", told)
