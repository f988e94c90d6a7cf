"""What a Dask cluster is handed: one function, and bytes that only a worker reads.

The scheduler imports this module too, and a worker does before it is known to run the same membench, so it is light.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from membench.errors import InstrumentError, MembenchError, ModelError

# All that a process does for a run is done in one thread, whatever the threads of its Dask worker: an embedder, a
# memory and a file of vectors take one call at a time, and some memories take them from one thread only.
_ALONE = ThreadPoolExecutor(1, "membench")


@cache
def code() -> Mapping[str, str]:
    """What this process runs: the source of membench, and the libraries that take part. As it was when first asked."""
    from membench.reports.provenance import versions
    from membench.runs.source import source_digest

    return {**versions(), "the source of membench": source_digest()[:12]}


def body_of(call: Callable[..., Any], *arguments: object) -> bytes:
    """``call``, a function of a module, and its ``arguments``, for `answer`."""
    return pickle.dumps((call, arguments))


def answer(expected: Mapping[str, str], body: bytes) -> Any:
    """What the call in ``body`` gives; it is told the worker's address and how many threads that has.

    Raises InstrumentError where this process runs other code than is ``expected``, and whatever goes wrong as a
    MembenchError that names the worker.
    """
    from distributed import get_worker

    worker = get_worker()
    where = f"the Dask worker {worker.address}"
    _refuse_other_code(where, expected)
    try:
        call, arguments = _read(body)
        return _ALONE.submit(call, *arguments, worker.address, worker.state.nthreads).result()
    except MembenchError as error:
        raise type(error)(f"On {where}: {error.what}", _remedy_there(error)) from error
    except Exception as error:
        raise InstrumentError(f"On {where}: {type(error).__name__}: {error}") from error


def afterwards(body: bytes) -> None:
    """Has the call in ``body`` made once this process has done what it is at. Returns at once."""
    call, arguments = _read(body)
    _ALONE.submit(call, *arguments)


def _remedy_there(error: MembenchError) -> str | None:
    if error.remedy and isinstance(error, ModelError):
        return f"On that machine, {error.remedy[0].lower()}{error.remedy[1:]}"
    return error.remedy


def _read(body: bytes) -> tuple[Callable[..., Any], Sequence[Any]]:
    # The peers of a cluster trust each other: Dask itself reads pickles of theirs.
    call, arguments = pickle.loads(body)  # noqa: S301
    return call, arguments


def _refuse_other_code(where: str, expected: Mapping[str, str]) -> None:
    found = code()
    names = [name for name in expected if found.get(name) != expected[name]]
    if names:
        told = "; ".join(f"{name} is {found.get(name, 'unknown')} there and {expected[name]} here" for name in names)
        raise InstrumentError(
            f"{where[0].upper()}{where[1:]} runs other code: {told}.",
            "Install the same there as here, and start the workers anew.",
        )
